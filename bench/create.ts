import { type Account, credentialHeaders, registerAccounts, startService } from '../test/harness/running-service.ts'
import { httpRequest, type LoadResult, type MakeRequest, runLoad } from './load.ts'

/** A charge as a merchant sends it: shopper with document and phone, an address for the confirmation. */
export function checkoutRequests(accounts: readonly Account[]): MakeRequest {
  const headers = accounts.map(credentialHeaders)
  return (index) => {
    const body = JSON.stringify({
      currency: 'BRL',
      amount: (100 + (index % 50_000)) / 100,
      referenceCode: `order-${index}`,
      maxAge: 60,
      paymentMethod: 'PIX',
      callbackURL: 'http://127.0.0.1:9/hook',
      shopper: {
        id: String(index),
        name: 'Maria da Silva Souza',
        email: `maria${index}@example.com`,
        document: { type: 'CPF', number: '529.982.247-25' },
        phone: { type: 'MOBILE', number: '11987654321' },
      },
    })
    return httpRequest('POST', '/v1.1/checkout/transparent', headers[index % headers.length]!, body)
  }
}

export async function benchCreate(): Promise<Record<string, LoadResult>> {
  const service = await startService({
    env: {
      QUITADO_PROCESSES: process.env['BENCH_PROCESSES'] ?? '1',
      NODE_OPTIONS: process.env['BENCH_NODE_OPTIONS'] ?? '',
    },
  })
  try {
    const make = checkoutRequests(await registerAccounts(service.port, 100))
    const connections = Number(process.env['BENCH_CONNECTIONS'] ?? 128)
    const result = await runLoad({ port: service.port, connections, seconds: 10, warmUpSeconds: 4, make })
    return { create: result }
  } finally {
    await service.stop()
  }
}
