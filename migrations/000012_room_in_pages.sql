-- A sale is mostly paid soon after it was made, while its page is still being filled, and paying writes the row once more;
-- a charge is written three times on its day. Half a page of room keeps that in the page, out of the indexes, and the log
-- records short.
alter table sale set (fillfactor = 50);
alter table charge set (fillfactor = 50);
