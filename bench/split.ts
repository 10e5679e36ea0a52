import type { ChildProcess } from 'node:child_process'
import { findViolations } from '../src/audit.ts'
import { apiClient } from '../test/harness/api-client.ts'
import { type Account, credentialHeaders, registerAccounts, startService } from '../test/harness/running-service.ts'
import { httpRequest, type MakeRequest, round, runLoad } from './load.ts'
import type { BenchRow } from './report.ts'
import type { SplitReport, ToSplit } from './split-process.ts'
import { addSharedSales, askProcess, prepareSplitWorld, type SplitWorld, secondsOf } from './split-world.ts'

const LEGS = 20
const ACCOUNTS = 200
const PER_SECOND = 100
const WARM_UP_SECONDS = 4
const SECONDS = 20

/**
 * Shared sales of 20 legs, paid in an open loop: from the commit of each payment to the commit of the last credit, all in one
 * process on one machine with its database; and what a sale takes of the processors. And checkouts of 20 legs, over HTTP.
 */
export async function benchSplit(runs: number, perSecond = PER_SECOND): Promise<BenchRow[]> {
  const rows: BenchRow[] = []
  for (let run = 1; run <= runs; run += 1) {
    for (const [spread, told] of [
      [true, false],
      [true, true],
      [false, true],
    ] as const) {
      const what = `${spread ? `${ACCOUNTS} accounts crosswise` : 'one parent, the same recipients'}, ${told ? 'all told' : 'nobody told'}`
      rows.push({ run, what, ...(await settlements({ spread, told, perSecond })) })
      console.log(`  run ${run}: ${JSON.stringify(rows.at(-1))}`)
    }
    rows.push({ run, what: 'checkouts, 20 legs each', ...(await checkouts()), ...notMeasured })
    console.log(`  run ${run}: ${JSON.stringify(rows.at(-1))}`)
  }
  return rows
}

async function settlements({ spread, told, perSecond }: { spread: boolean; told: boolean; perSecond: number }) {
  const world = await prepareSplitWorld({ accounts: ACCOUNTS, told })
  try {
    const of = (tag: string, seconds: number) =>
      addSharedSales(world, { count: perSecond * seconds, legs: LEGS, tag, spread })
    const warm = await of('warm', WARM_UP_SECONDS)
    const sales = await of('pay', SECONDS)
    await world.client.query('vacuum analyze')
    await world.client.query('checkpoint')
    const child = await world.startProcess()
    await askProcess(child, { type: 'pay', sales: warm, perSecond })
    await untilSettled(world)
    const used = () => ({ ...world.used(), service: secondsOf(child.pid!) })
    const before = used()
    const began = performance.now()
    await askProcess(child, { type: 'pay', sales, perSecond })
    const seconds = (performance.now() - began) / 1000
    await untilSettled(world)
    const after = used()
    const report = await askProcess<SplitReport>(child, { type: 'report' })
    await stopped(child)
    const violations = await findViolations(world.connection)
    if (violations.length > 0) throw new Error(`the books are wrong: ${JSON.stringify(violations)}`)
    printStatements(report)
    const msPerSale = (of: keyof typeof after) => round(((after[of] - before[of]) * 1000) / sales.length, 1)
    return {
      perSecond: round(sales.length / seconds, 1),
      ...figures(report),
      databaseMs: msPerSale('database'),
      serviceMs: msPerSale('service'),
      receiverMs: msPerSale('receiver'),
    }
  } finally {
    await world.close()
  }
}

function figures({ times, busy }: SplitReport) {
  const percentiles = (of: (one: readonly [number, number]) => number) => {
    const sorted = times.map(of).sort((a, b) => a - b)
    return (share: number) => round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!, 1)
  }
  const [paid, settled] = [percentiles(([dueToPaid]) => dueToPaid), percentiles(([, paidToSettled]) => paidToSettled)]
  return {
    p50Ms: settled(0.5),
    p99Ms: settled(0.99),
    maxMs: settled(1),
    dueToPaidP99Ms: paid(0.99),
    loopBusy: round(busy, 2),
  }
}

function printStatements({ statements }: SplitReport): void {
  const shown = [...statements].sort((a, b) => b[2] - a[2]).slice(0, 8)
  for (const [name, calls, ms] of shown)
    console.log(`    ${name}: ${calls} calls, ${round(ms / calls, 1)} ms each, ${Math.round(ms)} ms in all`)
}

async function untilSettled({ client }: SplitWorld): Promise<void> {
  const left = async () => {
    const { rows } = await client.query<{ n: number }>('select count(*) as n from split_message')
    return rows[0]!.n
  }
  while ((await left()) > 0) await new Promise((done) => setTimeout(done, 100))
}

function stopped(child: ChildProcess): Promise<unknown> {
  const gone = new Promise((done) => child.once('exit', done))
  child.send({ type: 'stop' } satisfies ToSplit)
  return gone
}

const notMeasured = { dueToPaidP99Ms: '', loopBusy: '', databaseMs: '', serviceMs: '', receiverMs: '' }

/** As many as one gets through in a closed loop; every parent has its own 20 recipients. */
async function checkouts() {
  const service = await startService({ env: { QUITADO_PROCESSES: '1' } })
  try {
    const make = await sharedCheckouts(service.port, 10)
    const load = { port: service.port, connections: 64, seconds: 10, warmUpSeconds: 4, make }
    const { perSecond, p50Ms, p99Ms, maxMs, statuses } = await runLoad(load)
    if (Object.keys(statuses).join() !== '200') throw new Error(`answers: ${JSON.stringify(statuses)}`)
    return { perSecond, p50Ms, p99Ms, maxMs }
  } finally {
    await service.stop()
  }
}

async function sharedCheckouts(port: number, parents: number): Promise<MakeRequest> {
  const accounts = await registerAccounts(port, parents)
  const splits = await Promise.all(accounts.map((account) => splitOf(port, account)))
  const headers = accounts.map(credentialHeaders)
  return (index) => {
    const at = index % accounts.length
    const body = JSON.stringify({
      currency: 'BRL',
      amount: 500,
      referenceCode: `order-${index}`,
      paymentMethod: 'PIX',
      shopper: { id: String(index), name: 'Maria da Silva Souza', email: `maria${index}@example.com` },
      split: splits[at],
    })
    return httpRequest('POST', '/v1.1/checkout/transparent', headers[at]!, body)
  }
}

async function splitOf(port: number, account: Account) {
  const api = apiClient(port, credentialHeaders(account))
  await api.put('/v1.1/sandbox/account', { splitEnabled: true })
  const legs: { recipientId: string; amount: number }[] = []
  for (let made = 0; made < LEGS; made += 1) {
    const { body } = await api.post('/v1.1/sandbox/recipients', { name: `Fornecedor ${made}` })
    legs.push({ recipientId: body.recipient.recipientId, amount: 1 + made })
  }
  return legs
}
