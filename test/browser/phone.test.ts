import type { Page } from 'playwright-core'
import { describe, expect, test, vi } from 'vitest'
import { situationOf, type TestAccount } from '../harness/given.ts'
import { codeOf } from '../harness/phones.ts'
import { authorizationOf, checkOut, recurrenceBody, recurrences, type Terms, variable } from '../harness/recurrences.ts'
import { testService } from '../harness/test-service.ts'
import { expectAccessible, expectAccessibleInBoth, expectFits, testBrowser } from './browser.ts'

const it = testService()
const browser = testBrowser(it)
const given = recurrences(it)

const plain = (text: string | null) => (text ?? '').replaceAll(/\s/g, ' ')
const balanceOf = async (page: Page) => plain(await page.getByTestId('balance').textContent())
const shows = (page: Page, text: string) =>
  vi.waitUntil(async () => (await balanceOf(page)) === text, { timeout: 30_000 })

async function paste(page: Page, code: string) {
  await page.getByLabel('PIX copia e cola').fill(code)
  await page.getByRole('button', { name: 'Ler o código' }).click()
}

async function mandateCode(account: TestAccount, { plan, recurrence, checkout }: Terms = {}) {
  const planId = await given.plan(account, plan)
  const asked = await checkOut(account, recurrenceBody(planId, given.inDays(5), checkout, recurrence))
  expect(asked.http, asked.text).toBe(200)
  const { idRec, instructions } = asked.body.response
  return { idRec, code: instructions.qrCode.plain as string }
}

describe('the payer phone', () => {
  test('a code is pasted, found to be right, and paid; the statement tells', async () => {
    const account = await it.given.account()
    const sale = await it.given.sale(account, { amount: 150.5 })
    const page = await browser.open('/phone')
    await page.getByRole('heading', { level: 1, name: /^Olá, / }).waitFor()
    expect(await balanceOf(page)).toBe('R$ 5.000,00')
    await paste(page, await codeOf(account, sale))
    await page.getByRole('heading', { name: 'Você vai pagar' }).waitFor()
    expect(await page.getByRole('listitem').filter({ hasText: ': confere' }).count()).toBe(4)
    expect(await page.getByText(account.id).count()).toBe(1)
    await page.getByRole('button', { name: /^Pagar R\$/ }).click()
    await page.getByText(/^Pago: R\$/).waitFor()
    await shows(page, 'R$ 4.849,50')
    expect(await situationOf(account, sale)).toBe('PAID')
    await page.getByRole('tab', { name: 'Extrato' }).click()
    await page.getByText('PIX enviado').waitFor()
    await page.reload()
    await shows(page, 'R$ 4.849,50')
    expect(await page.evaluate('Object.keys(localStorage).length + document.cookie.length')).toBe(0)
  })

  test('a picture of the code is enough', async () => {
    const account = await it.given.account()
    const sale = await it.given.sale(account, { amount: 12 })
    const picture = await it.api.get(`/qr/${sale.txid}.png`)
    const page = await browser.open('/phone')
    const field = page.getByLabel('Foto do QR code')
    await field.setInputFiles({ name: 'nothing.png', mimeType: 'image/png', buffer: Buffer.from('no picture') })
    await page.getByText('Não encontramos um QR code nesta imagem.').waitFor()
    await field.setInputFiles({ name: 'qr.png', mimeType: 'image/png', buffer: picture.body })
    await page.getByRole('button', { name: /^Pagar R\$/ }).click()
    await page.getByText(/^Pago: R\$/).waitFor()
    expect(await situationOf(account, sale)).toBe('PAID')
  })

  test('a broken code is explained: which check, and why', async () => {
    const account = await it.given.account()
    const code = await codeOf(account, await it.given.sale(account))
    const page = await browser.open('/phone')
    await paste(page, `${code.slice(0, -1)}${code.endsWith('0') ? '1' : '0'}`)
    await page.getByText('O CRC não confere').waitFor()
    expect(await page.getByRole('listitem').filter({ hasText: ': não confere' }).count()).toBe(1)
    const paid = await it.given.paidSale(account)
    await paste(page, await codeOf(account, paid))
    await page.getByText('Esta cobrança já foi paga.').waitFor()
    await expectAccessible(page)
  })

  test('a link leads here: the charge is read at once, and refused by a click', async () => {
    const account = await it.given.account()
    const sale = await it.given.sale(account, { amount: 3 })
    const page = await browser.open(`/phone?charge=${sale.txid}`, { locale: 'en-US' })
    await page.getByRole('heading', { name: 'You are about to pay' }).waitFor()
    expect(new URL(page.url()).search).toBe('')
    await page.getByRole('button', { name: 'Refuse' }).click()
    await page.getByText('Refused. Nothing was paid.').waitFor()
    expect(await situationOf(account, sale)).toBe('PENDING')
    const byCode = await browser.open(`/phone?code=${encodeURIComponent(await codeOf(account, sale))}`)
    await byCode.getByRole('heading', { name: 'Você vai pagar' }).waitFor()
  })

  test('paying twice and paying another amount: what does not fit comes back', async () => {
    const account = await it.given.account()
    const sale = await it.given.sale(account, { amount: 100 })
    const page = await browser.open(`/phone?charge=${sale.txid}`)
    await page.getByRole('button', { name: 'Pagar outro valor' }).click()
    await page.getByLabel('Outro valor').fill('99,99')
    await page.getByRole('button', { name: /^Pagar R\$\s99,99/ }).click()
    await page.getByText(/99,99 não serviu para a cobrança/).waitFor()
    await page.getByRole('button', { name: 'Ler outro código' }).click()
    await paste(page, await codeOf(account, sale))
    await page.getByRole('button', { name: 'Pagar duas vezes' }).click()
    await page.getByText(/^Pago: R\$/).waitFor()
    expect(await page.getByText(/não serviu para a cobrança/).count()).toBe(1)
    expect((await account.api.get('/v1.1/reversals')).body.totalElements).toBe(2)
    it.clock.advance(3_000)
    await it.sweep()
    await shows(page, 'R$ 4.900,00')
  })

  test('the balance runs out: the payment is refused, until there is money again', async () => {
    const account = await it.given.account()
    const sale = await it.given.sale(account, { amount: 5500 })
    const page = await browser.open(`/phone?charge=${sale.txid}`, { refusals: [/^409 \/phone\/api\/readings\//] })
    await page.getByRole('button', { name: /^Pagar R\$/ }).click()
    await page.getByText('Saldo insuficiente.').waitFor()
    await page.getByRole('button', { name: /^Depositar/ }).click()
    await shows(page, 'R$ 6.000,00')
    await page.getByRole('button', { name: /^Pagar R\$/ }).click()
    await page.getByText(/^Pago: R\$/).waitFor()
    await shows(page, 'R$ 500,00')
  })

  test('a mandate is read, authorized with a maximum, limited anew, and cancelled', async () => {
    const account = await it.given.account()
    const { idRec, code } = await mandateCode(account, { ...variable, plan: { ...variable.plan, title: 'Academia' } })
    const page = await browser.open('/phone', { refusals: [/^409 \/phone\/api\/mandates\//] })
    await paste(page, code)
    await page.getByRole('heading', { name: 'Você vai autorizar' }).waitFor()
    await page.getByRole('tab', { name: 'Autorizações' }).click()
    await page.getByText('aguarda você').waitFor()
    await page.getByLabel('Máximo por cobrança').fill('10')
    await page.getByRole('button', { name: 'Autorizar' }).click()
    await page.getByText('O máximo está abaixo do mínimo').waitFor()
    await page.getByLabel('Máximo por cobrança').fill('80,00')
    await page.getByRole('button', { name: 'Autorizar' }).click()
    await page.getByText('autorizada por você').waitFor()
    expect((await authorizationOf(account, { idRec })).status).toBe('APPROVED')
    await page.getByText('R$ 80,00').waitFor()
    await page.getByLabel('Máximo por cobrança').fill('90')
    await page.getByRole('button', { name: 'Mudar o máximo' }).click()
    await page.getByText('R$ 90,00').waitFor()
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Cancelar a autorização' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancelar a autorização' }).click()
    await page.getByText('cancelada', { exact: true }).waitFor()
    expect((await authorizationOf(account, { idRec })).status).toBe('CANCELLED')
  })

  test('a mandate with a first payment is given by paying it; its charges are collected and told', async () => {
    const account = await it.given.account()
    const { idRec, code } = await mandateCode(account, {
      checkout: { amount: 5 },
      recurrence: { immediatePayment: true },
    })
    const page = await browser.open('/phone')
    await paste(page, code)
    await page.getByRole('button', { name: /e autorizar$/ }).click()
    await page.getByText(/^Pago: R\$/).waitFor()
    expect((await authorizationOf(account, { idRec })).status).toBe('APPROVED')
    await account.api.post('/v1.1/sandbox/clock/advance', { days: 6 })
    await shows(page, 'R$ 4.945,10')
    await page.getByRole('tab', { name: 'Extrato' }).click()
    await page.getByText('PIX Automático').waitFor()
  })

  test('a mandate is rejected from the list', async () => {
    const account = await it.given.account()
    const { idRec, code } = await mandateCode(account)
    const page = await browser.open('/phone', { locale: 'en-US' })
    await page.getByRole('tab', { name: 'Mandates' }).click()
    await page.getByText('No mandates yet').waitFor()
    await page.getByRole('tab', { name: 'Pay' }).click()
    await page.getByLabel('PIX code').fill(code)
    await page.getByRole('button', { name: 'Read the code' }).click()
    await page.getByRole('heading', { name: 'You are about to authorize' }).waitFor()
    await page.getByRole('tab', { name: 'Mandates' }).click()
    await page.getByRole('button', { name: 'Reject' }).click()
    await page.getByText('rejected', { exact: true }).waitFor()
    expect((await authorizationOf(account, { idRec })).status).toBe('REJECTED')
  })

  test('by keyboard alone, at 360 px, in light and dark, accessible on every screen', async () => {
    const account = await it.given.account()
    const sale = await it.given.sale(account, { amount: 1 })
    const page = await browser.open('/phone', { width: 360 })
    const code = page.getByLabel('PIX copia e cola')
    await code.waitFor()
    await expectFits(page)
    await expectAccessibleInBoth(page)
    await code.focus()
    await page.keyboard.insertText(await codeOf(account, sale))
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    const pay = page.getByRole('button', { name: /^Pagar R\$/ })
    await pay.waitFor()
    await expectFits(page)
    await expectAccessibleInBoth(page)
    await pay.focus()
    await page.keyboard.press('Enter')
    await page.getByText(/^Pago: R\$/).waitFor()
    await page.getByRole('tab', { name: 'Pagar' }).focus()
    await page.keyboard.press('ArrowRight')
    await page.getByText('Nenhuma autorização ainda').waitFor()
    await page.keyboard.press('ArrowRight')
    await page.getByText('PIX enviado').waitFor()
    await expectFits(page)
    await expectAccessibleInBoth(page)
    expect(await situationOf(account, sale)).toBe('PAID')
  })

  test('on a desk it stands in the frame of a phone', async () => {
    const page = await browser.open('/phone')
    await page.getByTestId('balance').waitFor()
    expect((await page.locator('.phone').boundingBox())!.width).toBe(432)
    await expectAccessible(page)
  })
})
