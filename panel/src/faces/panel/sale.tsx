import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from 'wouter'
import {
  api,
  Back,
  Badge,
  ButtonLink,
  Card,
  CopyField,
  Detail,
  Facts,
  isSandbox,
  Table,
  useFormats,
  useTitle,
  useWords,
} from '../../kit/index.ts'
import { PayerCode } from './payer-code.tsx'
import { SaleActions, Simulator } from './sale-actions.tsx'
import { openOutflows, type SaleAnswer, toneOf } from './sale-types.ts'
import { TimeLine } from './time-line.tsx'
import { settlementWords, words } from './words.ts'

export function SalePage() {
  const w = useWords(words)
  const { uuid = '' } = useParams<{ uuid: string }>()
  useTitle(w.sale)
  const query = useQuery({
    queryKey: ['sales', uuid],
    queryFn: ({ signal }) => api<SaleAnswer>(`/panel/api/sales/${encodeURIComponent(uuid)}`, { signal }),
    meta: { topics: ['sales', 'money', 'deliveries'] },
  })
  return (
    <Detail back={<Back href="/sales">{w.allSales}</Back>} title={w.sale} query={query}>
      {(answer) => <Shown answer={answer} onChanged={() => void query.refetch()} />}
    </Detail>
  )
}

function Shown({ answer, onChanged }: { readonly answer: SaleAnswer; readonly onChanged: () => void }) {
  const w = useWords(words)
  const f = useFormats()
  const { sale, recurrence, events } = answer
  const legs = sale.split?.recipients ?? []
  const settlements = useWords(settlementWords)
  return (
    <>
      <div className="row-apart">
        <h1>{sale.referenceCode}</h1>
        <div className="row" role="status">
          <strong className="number">{f.money(sale.amount)}</strong>
          <Badge tone={toneOf[sale.situation]!}>{w[sale.situation]}</Badge>
        </div>
      </div>
      <SaleActions sale={sale} told={events.some(({ kind }) => kind === 'notification')} onChanged={onChanged} />
      {sale.situation === 'PENDING' && sale.txid && <SaleCode uuid={sale.uuid} txid={sale.txid} />}
      <div className="grid">
        <Card title={w.sale}>
          <Facts
            items={[
              [w.creation, f.dateTime(sale.creation)],
              [w.expires, sale.situation === 'PENDING' ? f.dateTime(sale.maxAge) : null],
              [w.paidAt, sale.paidAt && f.dateTime(sale.paidAt)],
              [w.fee, f.money(sale.fee)],
              [w.refunded, sale.refunded > 0 ? f.money(sale.refunded) : null],
              [w.shopper, sale.shopper.name],
              [w.email, sale.shopper.email],
              [w.document, sale.shopper.document],
              [w.callback, sale.callbackURL],
              [
                w.recurrence,
                recurrence && (
                  <Link key="recurrence" href={`/mandates/${recurrence.authorization.idRec}`}>
                    {recurrence.authorization.idRec}
                  </Link>
                ),
              ],
              [w.dueDate, recurrence?.scheduledPayment && f.date(recurrence.scheduledPayment.dueDate)],
            ]}
          />
        </Card>
        <Card>
          <div className="stack">
            <CopyField label="uuid" text={sale.uuid} />
            {sale.txid && <CopyField label="txid" text={sale.txid} />}
            {sale.endToEnd && <CopyField label="endToEnd" text={sale.endToEnd} />}
          </div>
        </Card>
      </div>
      {legs.length > 0 && (
        <Card title={w.split}>
          <Table
            caption={w.split}
            rows={legs}
            rowKey={({ recipientId }) => recipientId}
            columns={[
              { header: w.recipient, cell: ({ recipientId, name }) => name ?? recipientId },
              { header: 'recipientId', cell: ({ recipientId }) => <code>{recipientId}</code> },
              { header: w.amount, number: true, cell: ({ amount }) => f.money(amount) },
              {
                header: w.settlement,
                cell: ({ settlementStatus: state }) => <Badge tone={toneOf[state]!}>{settlements[state]}</Badge>,
              },
            ]}
          />
        </Card>
      )}
      {isSandbox() && !sale.isShare && !sale.isRecurring && (
        <Simulator sale={sale} open={openOutflows(events)} onChanged={onChanged} />
      )}
      <Card title={w.timeLine}>
        <TimeLine events={events} />
      </Card>
    </>
  )
}

type QrCodeAnswer = { readonly qrCode: { readonly plain: string } }

/** A renewal makes another code, under another txid. */
function SaleCode({ uuid, txid }: { readonly uuid: string; readonly txid: string }) {
  const w = useWords(words)
  const { data } = useQuery({
    queryKey: ['code', txid],
    queryFn: ({ signal }) => api<QrCodeAnswer>(`/panel/api/v1.1/transactions/pix/${uuid}`, { signal }),
  })
  if (data === undefined) return null
  return (
    <PayerCode plain={data.qrCode.plain} image={`/qr/${txid}.png`} hint={w.askPayerHint} toPhone={w.openPhone}>
      <ButtonLink href={`/pay/${txid}`} target="_blank" rel="noreferrer">
        {w.openPayPage}
      </ButtonLink>
    </PayerCode>
  )
}
