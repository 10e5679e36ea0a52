import { describe, expect, test } from 'vitest'
import { signedIn } from '../../../test/harness/pages.ts'
import { advanceTo, chargesOf, recurrences, variable } from '../../../test/harness/recurrences.ts'
import { testService } from '../../../test/harness/test-service.ts'

const it = testService()
const given = recurrences(it)

describe('a mandate in the panel', () => {
  test('shows its code while it awaits its payer, the name of its deliveries, and no document', async () => {
    const shop = await signedIn(it)
    const made = await given.mandate(shop, variable)
    const { body, text } = await shop.panel.get(`/panel/api/mandates/${made.idRec}`)
    expect(body).toMatchObject({
      mandate: {
        idRec: made.idRec,
        uuid: made.uuid,
        referenceCode: made.referenceCode,
        status: 'CREATED',
        valueType: 'VARIABLE',
        plan: { id: made.planId },
        canCancel: true,
        payer: { document: '***.982.247-**' },
        code: { plain: expect.stringMatching(/^0002.*6304[0-9A-F]{4}$/), image: expect.stringMatching(/^\/qr\/rec\//) },
      },
      charges: [],
    })
    expect(text).not.toContain('52998224725')
    const image = await it.api.get(body.mandate.code.image)
    expect([image.http, image.headers['content-type']]).toEqual([200, 'image/png'])
  })

  test('an approved one has no code, and a charge that can be cancelled until the evening before', async () => {
    const shop = await signedIn(it)
    const charge = await given.scheduledCharge(shop)
    const path = `/panel/api/mandates/${charge.mandate.idRec}`
    const { mandate, charges } = (await shop.panel.get(path)).body
    expect(mandate).toMatchObject({ status: 'APPROVED', code: null })
    const dayBefore = given.inDays(4)
    expect(charges).toMatchObject([
      { cycle: 2, status: 'PENDING_SCHEDULE', canCancel: true },
      { cycle: 1, status: 'SCHEDULED', canCancel: true, cancellableUntil: `${dayBefore} 22:00:00` },
    ])
    await advanceTo(shop, `${dayBefore} 22:00:01`)
    expect((await shop.panel.get(path)).body.charges[1].canCancel).toBe(false)
    const one = await shop.panel.get(`/panel/api/charges/${charge.instructionId}`)
    expect(one.body).toMatchObject({
      charge: { instructionId: charge.instructionId, canCancel: false, sale: { uuid: expect.any(String) } },
      mandate: { idRec: charge.mandate.idRec },
    })
  })

  test('a failed charge says when it is tried again', async () => {
    const shop = await signedIn(it)
    const charge = await given.chargeIn(shop, 'RETRYING')
    const { body } = await shop.panel.get(`/panel/api/charges/${charge.instructionId}`)
    expect(body.charge).toMatchObject({ status: 'FAILED', retryDate: given.inDays(7), rejectionCode: 'AM04' })
  })

  test("another account's are not found", async () => {
    const [one, two] = [await signedIn(it), await signedIn(it)]
    const mandate = await given.approvedMandate(one)
    const [charge] = await chargesOf(one, mandate)
    for (const path of [`mandates/${mandate.idRec}`, `charges/${charge!.instructionId}`, 'mandates/x', 'charges/x'])
      expect([path, (await two.panel.get(`/panel/api/${path}`)).http]).toEqual([path, 404])
  })
})
