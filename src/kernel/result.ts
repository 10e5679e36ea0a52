/** An expected "no" is data; a bug throws. */
export type Result<Value, Refused> = { ok: true; value: Value } | { ok: false; refusal: Refused }

export const ok = <Value>(value: Value) => ({ ok: true, value }) as const
export const refuse = <Refused>(refusal: Refused) => ({ ok: false, refusal }) as const
