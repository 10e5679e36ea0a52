import { useLocation } from 'wouter'
import { api, SelectField, TextField, typed, typedAmount, useToast, useWords } from '../../kit/index.ts'
import { DocumentFields, documentOf } from './document-fields.tsx'
import { OnceForm } from './once-form.tsx'
import { words } from './words.ts'

const minutesOf = { minutes: 1, hours: 60, days: 1_440 } as const
type Unit = keyof typeof minutesOf
const units = Object.keys(minutesOf) as readonly Unit[]

const shown = [
  'amount',
  'referenceCode',
  'maxAge',
  'callbackURL',
  'shopper.name',
  'shopper.email',
  'shopper.document.type',
  'shopper.document.number',
]

/** In minutes, as the service counts. What is no whole number is left as it was typed, for the service to refuse. */
function maxAgeOf(form: FormData): number | string | undefined {
  const count = typed(form, 'maxAge')
  return count && /^\d+$/.test(count) ? Number(count) * minutesOf[form.get('maxAgeUnit') as Unit] : count
}

const bodyFrom = (form: FormData) => ({
  currency: 'BRL',
  paymentMethod: 'PIX',
  amount: typedAmount(form, 'amount'),
  referenceCode: typed(form, 'referenceCode'),
  maxAge: maxAgeOf(form),
  callbackURL: typed(form, 'callbackURL'),
  shopper: { name: typed(form, 'name'), email: typed(form, 'email'), ...documentOf(form) },
})

type Made = { readonly response: { readonly uuid: string } }

export function NewSale() {
  const w = useWords(words)
  const say = useToast()
  const [, navigate] = useLocation()
  return (
    <OnceForm
      title={w.newSale}
      back={{ href: '/sales', label: w.allSales }}
      send={w.makeSale}
      shown={shown}
      sentBefore={w.saleSentBefore}
      make={async (form, once) => {
        const body = bodyFrom(form)
        const path = '/panel/api/v1.1/checkout/transparent'
        const made = await once((key) => api<Made>(path, { method: 'POST', body, key }))
        say(w.saleMade)
        navigate(`/sales/${made.response.uuid}`, { replace: true })
      }}
    >
      {(fault, error) => (
        <>
          <div className="grid">
            <TextField
              label={w.amount}
              name="amount"
              inputMode="decimal"
              required
              autoComplete="off"
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
          <h2>{w.shopper}</h2>
          <div className="grid">
            <TextField label={w.shopperName} name="name" required autoComplete="off" error={fault('shopper.name')} />
            <TextField
              label={w.email}
              name="email"
              type="email"
              required
              autoComplete="off"
              error={fault('shopper.email')}
            />
            <DocumentFields of="shopper" fault={fault} />
          </div>
          <h2>{w.terms}</h2>
          <div className="grid">
            <TextField
              label={w.validFor}
              name="maxAge"
              inputMode="numeric"
              autoComplete="off"
              hint={w.validForHint}
              error={error?.of('maxAge') && w.wrongValidity}
            />
            <SelectField
              label={w.unit}
              name="maxAgeUnit"
              defaultValue="hours"
              options={units.map((unit) => [unit, w[unit]])}
            />
          </div>
          <TextField label={w.callback} name="callbackURL" type="url" autoComplete="off" error={fault('callbackURL')} />
        </>
      )}
    </OnceForm>
  )
}
