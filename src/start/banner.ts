import type { Demo } from './demo-account.ts'

export type Banner = {
  /** Undefined when this start does not listen. */
  readonly publicUrl: string | undefined
  readonly demo: Demo | undefined
  readonly operatorTokenFile: string | undefined
  readonly seconds: string
}

const body =
  '{"currency":"BRL","amount":10.5,"referenceCode":"first-charge","paymentMethod":"PIX","shopper":{"name":"Maria da Silva","email":"maria@example.com"}}'

/** The last thing a start prints: where it is and a line that works when pasted. */
export function banner({ publicUrl, demo, operatorTokenFile, seconds }: Banner): string {
  const lines = ['', `Quitado is ready (${seconds} s).`]
  if (publicUrl) lines.push('', `  API       ${publicUrl}`, `  Docs      ${publicUrl}/docs`)
  if (publicUrl) lines.push(`  Panel     ${publicUrl}/panel`)
  if (publicUrl && demo) lines.push(`  Register  ${publicUrl}/register`, `  Toy bank  ${publicUrl}/phone`)
  if (publicUrl && operatorTokenFile) lines.push(`  Operator  ${publicUrl}/operator, token in ${operatorTokenFile}`)
  if (demo) {
    const { email, password = 'the one that you gave it' } = demo.signIn
    lines.push('', '  Demo account', `    x-api-key:   ${demo.apiKey}`, `    x-api-token: ${demo.apiToken}`)
    lines.push(`    e-mail:      ${email}`, `    password:    ${password}`)
    const headers = `-H 'x-api-key: ${demo.apiKey}' -H 'x-api-token: ${demo.apiToken}' -H 'content-type: application/json'`
    lines.push('', '  A first charge:', `curl -s ${publicUrl}/v1.1/checkout/transparent ${headers} -d '${body}'`)
  }
  return `${lines.join('\n')}\n`
}
