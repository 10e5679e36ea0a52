import { describe, expect, test } from 'vitest'
import { preparePages } from './pages.ts'
import { sourcesHash } from './pages-sources.ts'

async function prepared(parts: Parameters<typeof preparePages>[1]) {
  const said: string[] = []
  await preparePages((sentence) => said.push(sentence), parts)
  return said
}
const failing = (stderr: string) => async () => {
  throw Object.assign(new Error('Command failed'), { stderr })
}

describe('the pages at a start', () => {
  // The run of these tests has built them.
  test('are left alone when their sources are those they were built from', async () => {
    expect(await prepared({ build: failing('must not be called') })).toEqual([])
  })

  test('are built when a source has changed', async () => {
    let builds = 0
    const build = async () => {
      builds += 1
    }
    expect(await prepared({ hash: () => 'another', build })).toEqual(['Building the pages'])
    expect(builds).toBe(1)
  })

  test('a build that fails is one line, and the start goes on', async () => {
    expect(await prepared({ hash: () => 'another', build: failing('no such module\n') })).toEqual([
      'Building the pages',
      'The pages could not be built, those of the last build are served: no such module',
    ])
  })

  test('sources that cannot be read are one line, too', async () => {
    const hash = () => {
      throw new Error('no right to read')
    }
    expect((await prepared({ hash }))[0]).toContain('no right to read')
  })

  test('the same sources have the same hash', () => {
    expect(sourcesHash()).toBe(sourcesHash())
    expect(sourcesHash()).toMatch(/^[0-9a-f]{64}$/)
  })
})
