import { describe, expect, test } from 'vitest'
import { createInFlight, type UnderWay } from './in-flight.ts'

function start() {
  const clock = { ms: 1_000 }
  const inFlight = createInFlight(20, () => clock.ms)
  const ended: string[] = []
  const add = (name: string) => {
    const end = Promise.withResolvers<void>()
    const one: UnderWay = {
      deadline: 0,
      before: null,
      after: null,
      end(why) {
        inFlight.remove(one)
        ended.push(`${name} ${why}`)
        end.resolve()
      },
    }
    inFlight.add(one)
    return { one, end: end.promise }
  }
  return { clock, inFlight, ended, add }
}

describe('calls in flight', () => {
  test('end each at its own deadline, not before', async () => {
    const { clock, ended, add } = start()
    const a = add('a')
    clock.ms += 10
    const b = add('b')
    clock.ms += 10
    await a.end
    expect(ended).toEqual(['a timeout'])
    clock.ms += 10
    await b.end
    expect(ended).toEqual(['a timeout', 'b timeout'])
  })

  test('may end in any order', async () => {
    const { clock, inFlight, ended, add } = start()
    const [a, b, c, d] = [add('a'), add('b'), add('c'), add('d')]
    inFlight.remove(b.one)
    inFlight.remove(a.one)
    inFlight.remove(d.one)
    const e = add('e')
    clock.ms += 20
    await Promise.all([c.end, e.end])
    expect(ended).toEqual(['c timeout', 'e timeout'])
    await inFlight.idle()
  })

  test('all stop at once', async () => {
    const { inFlight, ended, add } = start()
    for (const name of ['a', 'b', 'c']) add(name)
    const idle = inFlight.idle()
    inFlight.stopAll()
    await idle
    expect(ended).toEqual(['a stopped', 'b stopped', 'c stopped'])
  })
})
