/** `sql` finds what breaks the rule. */
type Check = { readonly name: string; readonly sql: string }

export const notificationChecks: readonly Check[] = [
  {
    name: 'every notification waits, or its last attempt ended its series',
    sql: `select n.account_id, n.id from notification n
      left join notification_queue q on q.account_id = n.account_id and q.resource_id = n.resource_id and q.turn = n.turn
      left join lateral (
        select last from notification_attempt a
        where a.account_id = n.account_id and a.notification_id = n.id order by number desc limit 1) a on true
      where q.account_id is null and a.last is not true`,
  },
  {
    name: 'whatever waits has its notification, and counts its attempts rightly',
    sql: `select q.account_id, q.notification_id from notification_queue q
      left join notification n on n.account_id = q.account_id and n.id = q.notification_id and n.resource_id = q.resource_id and n.turn = q.turn
      where n.id is null or q.attempts <> (
        select count(*) from notification_attempt a where a.account_id = q.account_id and a.notification_id = q.notification_id)`,
  },
  {
    name: 'attempts are numbered from 1 without gaps and belong to a notification',
    sql: `select a.account_id, a.notification_id from notification_attempt a
      left join notification n on n.account_id = a.account_id and n.id = a.notification_id
      group by a.account_id, a.notification_id
      having min(a.number) <> 1 or max(a.number) <> count(*) or count(n.id) = 0`,
  },
  {
    name: 'news of one resource has turns of its own',
    sql: `select account_id, resource_id, turn from notification group by 1, 2, 3 having count(*) > 1`,
  },
]
