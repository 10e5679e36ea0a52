/** Which module may import which: the import check and the drawing in docs/ARCHITECTURE.md are made from this table. */
export const moduleMayImport: Readonly<Record<string, readonly string[]>> = {
  ledger: [],
  account: ['ledger'],
  notification: ['account'],
  outflow: ['account', 'ledger'],
  split: ['account', 'ledger', 'notification'],
  sale: ['split', 'account', 'ledger', 'notification'],
  refund: ['sale', 'outflow', 'account', 'ledger', 'notification'],
  payout: ['outflow', 'account', 'ledger', 'notification'],
  recurrence: ['sale', 'account', 'ledger', 'notification'],
  transaction: ['sale', 'refund', 'payout', 'account', 'ledger'],
  door: ['recurrence', 'sale', 'split', 'refund', 'payout', 'outflow', 'account', 'ledger', 'notification'],
  panel: ['door', 'recurrence', 'sale', 'refund', 'split', 'account', 'ledger', 'notification'],
  location: ['recurrence', 'sale', 'account'],
  phone: ['door', 'recurrence', 'sale', 'account', 'ledger'],
  simulator: [
    'phone',
    'door',
    'recurrence',
    'account',
    'ledger',
    'sale',
    'refund',
    'payout',
    'outflow',
    'notification',
  ],
}

/** Top folders of src, highest first. A folder may import itself and what stands below it. */
export const layers = [
  ['main.ts'],
  ['start'],
  ['service.ts', 'audit.ts'],
  ['batches.ts'],
  ['api', 'worker', 'config.ts'],
  ['modules'],
  ['rail', 'platform'],
  ['kernel'],
] as const
