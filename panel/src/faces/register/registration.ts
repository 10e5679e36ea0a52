/** What `POST /register/api` answers: credentials in clear text, this once. */
export type Registered = {
  readonly account: { readonly id: string; readonly name: string; readonly email: string }
  readonly credentials: { readonly apiKey: string; readonly apiToken: string; readonly webhookSecret: string }
}

/** The part of a checkout's answer that the page shows. */
export type Made = {
  readonly response: {
    readonly uuid: string
    readonly instructions: { readonly qrCode: { readonly plain: string; readonly url: string } }
  }
}

export const firstCharge = (referenceCode: string) => ({
  currency: 'BRL',
  amount: 10.5,
  referenceCode,
  paymentMethod: 'PIX',
  shopper: { name: 'Maria da Silva', email: 'maria@example.com' },
})

/** Works when pasted. A password is no part of it; the credentials are its owner's, on its owner's screen. */
export function curlLine(origin: string, { apiKey, apiToken }: Registered['credentials']): string {
  const headers = [`x-api-key: ${apiKey}`, `x-api-token: ${apiToken}`, 'content-type: application/json']
  return [
    `curl -s ${origin}/v1.1/checkout/transparent`,
    ...headers.map((header) => `  -H '${header}'`),
    `  -d '${JSON.stringify(firstCharge('first-charge'))}'`,
  ].join(' \\\n')
}

/** The txid is the name of the QR image. */
export const txidOf = ({ response }: Made): string =>
  /\/qr\/(\w+)\.png$/.exec(response.instructions.qrCode.url)?.[1] ?? ''
