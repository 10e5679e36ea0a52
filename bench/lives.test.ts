import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { liveClosed, type OpenLives, openLives } from './lives.ts'

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const step of cleanUps.splice(0).reverse()) await step()
})

const MADE = JSON.stringify({ response: { uuid: '00000000-0000-7000-8000-000000000001' } })

/** A service that answers a checkout and a payment alike, or as it is told. */
async function aService(answer: (response: ServerResponse) => void = (response) => response.end(MADE)) {
  const server = createServer((_request, response) => answer(response))
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  cleanUps.push(() => {
    server.closeAllConnections()
    return new Promise((done) => server.close(done))
  })
  const { port } = server.address() as AddressInfo
  return { port, shops: [{ apiKey: 'key', apiToken: 'token' }], callbackUrl: 'http://127.0.0.1:9/hook' }
}

/** One that lets nobody through until it is told to. */
async function aStalledService() {
  const held: ServerResponse[] = []
  let stalls = true
  const target = await aService((response) => (stalls ? held.push(response) : response.end(MADE)))
  const goOn = () => {
    stalls = false
    for (const response of held) response.end(MADE)
  }
  return { target, goOn }
}

async function openOn(target: Parameters<typeof openLives>[0], connections: number): Promise<OpenLives> {
  const open = await openLives(target, connections)
  cleanUps.push(() => open.close())
  return open
}

test('a life that waited for a connection counts from when it was due', async () => {
  const { target, goOn } = await aStalledService()
  const open = await openOn(target, 1)
  const tally = await open.offer(100, 0.3)
  goOn()
  await open.answered()
  expect([tally.lives, tally.unsent]).toEqual([30, 0])
  // The last one was due when the first was answered; those before it waited up to the whole time.
  expect(tally.checkout.at(1)).toBeGreaterThanOrEqual(280)
  expect(tally.checkout.at(0.5)).toBeGreaterThanOrEqual(140)
})

test('where nobody is patient, what finds no connection is not sent', async () => {
  const { target, goOn } = await aStalledService()
  const open = await openOn(target, 2)
  const tally = await open.offer(100, 0.1, false)
  goOn()
  await open.answered()
  expect([tally.lives, tally.unsent]).toEqual([2, 8])
})

test('503 with Retry-After is a refusal, and any other answer is not', async () => {
  const answers = [{ 'retry-after': '1' }, {}]
  const target = await aService((response) => response.writeHead(503, answers.shift()!).end('{}'))
  const open = await openOn(target, 1)
  const tally = await open.offer(100, 0.02)
  await open.answered()
  expect([tally.lives, tally.refusedCheckouts, tally.otherAnswers]).toEqual([0, 1, 1])
})

test('a connection that breaks is replaced', async () => {
  let broken = false
  const target = await aService((response) => {
    if (broken) response.end(MADE)
    else response.socket!.destroy()
    broken = true
  })
  const open = await openOn(target, 1)
  const tally = await open.offer(100, 0.05)
  await open.answered()
  expect([tally.lives, tally.otherAnswers]).toEqual([4, 1])
})

test('a closed loop ends with every sale that it made paid', async () => {
  let answered = 0
  const target = await aService((response) => {
    answered += 1
    response.end(MADE)
  })
  const { tally } = await liveClosed(target, 0.2)
  expect(answered).toBe(2 * tally.lives)
  expect(tally.lives).toBeGreaterThanOrEqual(512)
})
