import { useQuery } from '@tanstack/react-query'
import { useParams } from 'wouter'
import {
  api,
  Back,
  Badge,
  Card,
  CopyField,
  Detail,
  Facts,
  isSandbox,
  useFormats,
  useTitle,
  useWords,
} from '../../kit/index.ts'
import { Deliveries, useDeliveries } from './delivery.tsx'
import { PayoutActions, PayoutSimulator } from './payout-actions.tsx'
import type { Payout } from './payout-types.ts'
import { toneOf } from './sale-types.ts'
import { words } from './words.ts'
import { moneyWords } from './words-money.ts'

export function PayoutPage() {
  const m = useWords(moneyWords)
  const { uuid = '' } = useParams<{ uuid: string }>()
  useTitle(m.payout)
  const query = useQuery({
    queryKey: ['payouts', 'one', uuid],
    queryFn: ({ signal }) => api<Payout>(`/panel/api/v1.1/payout/${encodeURIComponent(uuid)}`, { signal }),
    meta: { topics: ['money'] },
  })
  return (
    <Detail back={<Back href="/payouts">{m.allPayouts}</Back>} title={m.payout} query={query}>
      {(payout) => <Shown payout={payout} onChanged={() => void query.refetch()} />}
    </Detail>
  )
}

function Shown({ payout, onChanged }: { readonly payout: Payout; readonly onChanged: () => void }) {
  const w = useWords(words)
  const m = useWords(moneyWords)
  const f = useFormats()
  const told = useDeliveries(payout.uuid).data?.deliveries ?? []
  return (
    <>
      <div className="row-apart">
        <h1>{payout.referenceCode}</h1>
        <div className="row" role="status">
          <strong className="number">{f.money(payout.amount)}</strong>
          <Badge tone={toneOf[payout.situation]!}>{w[payout.situation]}</Badge>
        </div>
      </div>
      <PayoutActions payout={payout} told={told.length > 0} onChanged={onChanged} />
      <div className="grid">
        <Card title={m.payout}>
          <Facts
            items={[
              [w.creation, f.dateTime(payout.creation)],
              [m.processed, payout.processingDate && f.dateTime(payout.processingDate)],
              [m.serviceFee, f.money(payout.serviceFee)],
              [m.withFee, f.money(payout.total)],
              [m.whyFailed, payout.error_code && `${payout.error_code} · ${m[payout.error_code]}`],
              [m.notes, payout.notes],
            ]}
          />
          <CopyField label="uuid" text={payout.uuid} />
        </Card>
        <Beneficiary payout={payout} />
      </div>
      {isSandbox() && payout.situation === 'PENDING' && <PayoutSimulator payout={payout} onChanged={onChanged} />}
      <Card title={m.webhooks}>
        <Deliveries of={payout.uuid} none={m.noWebhooks} />
      </Card>
    </>
  )
}

function Beneficiary({ payout: { beneficiary } }: { readonly payout: Payout }) {
  const w = useWords(words)
  const m = useWords(moneyWords)
  const { document, bankDetails: bank } = beneficiary
  return (
    <Card title={m.beneficiary}>
      <Facts
        items={[
          [m.name, beneficiary.name],
          [w.email, beneficiary.email],
          [w.document, document && `${document.type} ${masked(document.number)}`],
          [m.toKey, bank?.pixKey],
          [m.accountType, bank?.account && bank.type && m[bank.type]],
          [m.bankCode, bank?.bankCode],
          [m.branch, bank?.branch],
          [m.account, bank?.account],
        ]}
      />
    </Card>
  )
}

const SEEN = 4
/** Who looks at a screen need not see whose document it is, only that it is the one they know. */
const masked = (number: string): string => `***${number.length > 2 * SEEN ? number.slice(-SEEN) : ''}`
