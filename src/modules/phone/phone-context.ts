import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/database.ts'
import type { RandomIds } from '../../platform/random-ids.ts'
import type { Secrets } from '../../platform/secrets.ts'
import type { Rail } from '../../rail/rail.ts'
import type { Door, DoorContext } from '../door/index.ts'

export type PhoneContext = {
  readonly db: Database
  readonly clock: Clock
  readonly ids: RandomIds
  readonly secrets: Secrets
  readonly door: Door
  readonly doorContext: DoorContext
  readonly rail: Rail
  readonly publicUrl: string
}
