-- A sale is mostly paid soon after it was made, while its page is still being filled, and paying writes the row once more.
-- Half a page of room keeps that in the page, out of the indexes, and its log record short.
alter table sale set (fillfactor = 50);
