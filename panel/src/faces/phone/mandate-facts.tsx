import { Facts, useFormats, useWords } from '../../kit/index.ts'
import type { MandateOffer } from './phone-api.ts'
import { words } from './words.ts'

export function MandateFacts({ offer }: { readonly offer: MandateOffer }) {
  const w = useWords(words)
  const f = useFormats()
  return (
    <Facts
      items={[
        [w.receiver, offer.receiver],
        [w.object, offer.object],
        [w.contract, offer.contract],
        [w.eachCharge, offer.amount === null ? w.varies : f.money(offer.amount)],
        [w.frequency, w[offer.periodicity]],
        [w.starts, f.date(offer.initialDate)],
        [w.ends, offer.finalDate && f.date(offer.finalDate)],
        [w.retries, offer.retries ? w.upToThree : null],
      ]}
    />
  )
}
