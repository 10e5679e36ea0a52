import { useState } from 'react'
import { useLocation } from 'wouter'
import {
  api,
  SelectField,
  TextField,
  typed,
  typedAmount,
  type useFaults,
  useFormats,
  useToast,
  useWords,
} from '../../kit/index.ts'
import { useBalance } from './balance.ts'
import { DocumentFields, documentOf } from './document-fields.tsx'
import { OnceForm } from './once-form.tsx'
import type { Payout } from './payout-types.ts'
import { words } from './words.ts'
import { moneyWords } from './words-money.ts'

type Target = 'key' | 'account'

const bank = 'beneficiary.bankDetails'
const shown = [
  'amount',
  'referenceCode',
  'notes',
  'callbackURL',
  'beneficiary.name',
  'beneficiary.email',
  'beneficiary.document.type',
  'beneficiary.document.number',
  'beneficiary.pixKey',
  bank,
  ...['type', 'bankCode', 'branch', 'account'].map((name) => `${bank}.${name}`),
]

const beneficiaryOf = (form: FormData, target: Target) => ({
  name: typed(form, 'name'),
  email: typed(form, 'email'),
  ...documentOf(form),
  ...(target === 'key'
    ? { pixKey: typed(form, 'pixKey') }
    : {
        bankDetails: {
          type: typed(form, 'accountType'),
          bankCode: typed(form, 'bankCode'),
          branch: typed(form, 'branch'),
          account: typed(form, 'account'),
        },
      }),
})

const bodyFrom = (form: FormData, target: Target) => ({
  amount: typedAmount(form, 'amount'),
  currency: 'BRL',
  referenceCode: typed(form, 'referenceCode'),
  beneficiary: beneficiaryOf(form, target),
  notes: typed(form, 'notes'),
  callbackURL: typed(form, 'callbackURL'),
})

export function NewPayout() {
  const w = useWords(words)
  const m = useWords(moneyWords)
  const f = useFormats()
  const say = useToast()
  const [, navigate] = useLocation()
  const balance = useBalance()
  const [target, setTarget] = useState<Target>('key')
  return (
    <OnceForm
      title={m.newPayout}
      back={{ href: '/payouts', label: m.allPayouts }}
      send={m.sendPayout}
      shown={shown}
      sentBefore={m.sentBefore}
      make={async (form, once) => {
        const body = bodyFrom(form, target)
        const made = await once((key) => api<Payout>('/panel/api/v1.1/payout/create', { method: 'POST', body, key }))
        say(m.payoutAsked)
        navigate(`/payouts/${made.uuid}`, { replace: true })
      }}
    >
      {(fault) => (
        <>
          <div className="grid">
            <TextField
              label={w.amount}
              name="amount"
              inputMode="decimal"
              required
              autoComplete="off"
              hint={balance.data && m.availableNow(f.money(balance.data.available))}
              error={fault('amount')}
            />
            <TextField
              label={w.reference}
              name="referenceCode"
              required
              autoComplete="off"
              hint={w.referenceHint}
              error={fault('referenceCode')}
            />
          </div>
          <h2>{m.beneficiary}</h2>
          <div className="grid">
            <TextField
              label={m.beneficiaryName}
              name="name"
              required
              autoComplete="off"
              error={fault('beneficiary.name')}
            />
            <TextField
              label={w.email}
              name="email"
              type="email"
              autoComplete="off"
              error={fault('beneficiary.email')}
            />
            <DocumentFields of="beneficiary" fault={fault} />
          </div>
          <SelectField
            label={m.goesTo}
            value={target}
            onChange={(event) => setTarget(event.currentTarget.value as Target)}
            options={[
              ['key', m.toKey],
              ['account', m.toAccount],
            ]}
          />
          {target === 'key' ? (
            <TextField
              label={m.toKey}
              name="pixKey"
              required
              autoComplete="off"
              hint={m.pixKeyHint}
              error={fault('beneficiary.pixKey', bank)}
            />
          ) : (
            <BankAccount fault={fault} />
          )}
          <TextField label={m.notes} name="notes" autoComplete="off" error={fault('notes')} />
          <TextField label={m.callback} name="callbackURL" type="url" autoComplete="off" error={fault('callbackURL')} />
        </>
      )}
    </OnceForm>
  )
}

function BankAccount({ fault }: { readonly fault: ReturnType<typeof useFaults> }) {
  const m = useWords(moneyWords)
  return (
    <div className="grid">
      <SelectField
        label={m.accountType}
        name="accountType"
        options={[
          ['CHECKING', m.CHECKING],
          ['SAVING', m.SAVING],
        ]}
        error={fault(`${bank}.type`)}
      />
      <TextField label={m.bankCode} name="bankCode" required autoComplete="off" error={fault(`${bank}.bankCode`)} />
      <TextField label={m.branch} name="branch" required autoComplete="off" error={fault(`${bank}.branch`)} />
      <TextField label={m.account} name="account" required autoComplete="off" error={fault(`${bank}.account`)} />
    </div>
  )
}
