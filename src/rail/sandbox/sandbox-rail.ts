import { encodeBrCode } from '../../kernel/br-code.ts'
import type { Rail } from '../rail.ts'

export const SANDBOX_RAIL = 'sandbox'
/** A bank that does not exist. */
export const SANDBOX_ISPB = '99999004'

/** The path of a charge's payload, after the public host. */
export const payloadPath = (txid: string): string => `/pix/${txid}`

/** Computes its charges without I/O: the easy case of the port's contract. */
export function createSandboxRail(publicHost: string): Rail {
  return {
    name: SANDBOX_RAIL,
    // Takes every order; who settles it, and when, is the simulator's business.
    async sendOut() {},
    // What it has settled is no longer asked for, and what somebody wants back it does not settle (modules/simulator).
    cancelOut: async (references) => references.map(() => 'WITHDRAWN'),
    lookUpOut: async (references) => references.map(() => 'PENDING'),
    async openCharges(charges) {
      return charges.map(({ txid, merchantName, merchantCity }) => {
        const location = `${publicHost}${payloadPath(txid)}`
        return {
          location,
          brCode: encodeBrCode({ kind: 'dynamic', locationUrl: location, merchantName, merchantCity }),
        }
      })
    },
  }
}
