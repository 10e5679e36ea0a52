import { describe, expect, test } from 'vitest'
import { systemRandomIds } from './random-ids.ts'
import { createSecrets } from './secrets.ts'

const ids = systemRandomIds()
const [oldKey, newKey, foreignKey] = [1, 2, 3].map((byte) => Buffer.alloc(32, byte)) as [Buffer, Buffer, Buffer]
const secrets = createSecrets([oldKey], ids)
const TOKEN = '0b5a7a52-93a7-4d3c-8a58-0d2b7a5a3f11'

describe('a sealed value', () => {
  test.each(['', 'x', TOKEN, 'ação €', 'long '.repeat(10_000)])('opens to what was sealed', (plain) => {
    expect(secrets.open(secrets.seal(plain, 'here'), 'here')).toBe(plain)
  })

  test('shows nothing of the plain text and is another one each time', () => {
    const [one, two] = [secrets.seal(TOKEN, 'here'), secrets.seal(TOKEN, 'here')]
    expect(one.equals(two)).toBe(false)
    expect(one.toString('latin1')).not.toContain(TOKEN)
    expect(one.toString('latin1')).not.toContain(TOKEN.slice(0, 8))
  })

  test('is bound to its place: moved to another row it does not open', () => {
    expect(() => secrets.open(secrets.seal(TOKEN, 'account 7 api token'), 'account 8 api token')).toThrow()
  })

  test('does not open when a single bit of it has changed, wherever it lies', () => {
    const sealed = secrets.seal(TOKEN, 'here')
    for (let at = 0; at < sealed.length; at += 1) {
      const changed = Buffer.from(sealed)
      changed[at]! ^= 1
      expect(() => secrets.open(changed, 'here'), `byte ${at}`).toThrow()
    }
  })

  test('does not open when it is cut short', () => {
    const sealed = secrets.seal(TOKEN, 'here')
    for (const length of [0, 3, 4, 16, 31, sealed.length - 1])
      expect(() => secrets.open(sealed.subarray(0, length), 'here'), `${length} bytes`).toThrow()
  })
})

describe('a look-up hash', () => {
  test('knows its own secret and no other', () => {
    const hash = secrets.hash(TOKEN)
    expect(secrets.matches(TOKEN, hash)).toBe(true)
    for (const other of ['', TOKEN.toUpperCase(), `${TOKEN} `, TOKEN.slice(1)])
      expect(secrets.matches(other, hash)).toBe(false)
  })

  test('needs the key: two services with the same token have different hashes', () => {
    expect(createSecrets([foreignKey], ids).hash(TOKEN).equals(secrets.hash(TOKEN))).toBe(false)
    expect(createSecrets([foreignKey], ids).matches(TOKEN, secrets.hash(TOKEN))).toBe(false)
  })

  test('nothing matches nothing: an unknown key is never let in', () => {
    for (const token of ['', TOKEN, '\0'.repeat(32)]) expect(secrets.matches(token, undefined)).toBe(false)
  })
})

describe('several keys', () => {
  const rotated = createSecrets([newKey, oldKey], ids)

  test('the first one seals and hashes, all of them open and match', () => {
    expect(rotated.open(secrets.seal(TOKEN, 'here'), 'here')).toBe(TOKEN)
    expect(rotated.matches(TOKEN, secrets.hash(TOKEN))).toBe(true)
    const onlyNew = createSecrets([newKey], ids)
    expect(onlyNew.open(rotated.seal(TOKEN, 'here'), 'here')).toBe(TOKEN)
    expect(onlyNew.matches(TOKEN, rotated.hash(TOKEN))).toBe(true)
  })

  test('a key that was taken away opens and matches nothing any more', () => {
    const onlyNew = createSecrets([newKey], ids)
    expect(() => onlyNew.open(secrets.seal(TOKEN, 'here'), 'here')).toThrow(/not configured/)
    expect(onlyNew.matches(TOKEN, secrets.hash(TOKEN))).toBe(false)
  })

  test.each([[[]], [[Buffer.alloc(31)]], [[oldKey, Buffer.alloc(33)]]])('must have 32 bytes each', (keys) => {
    expect(() => createSecrets(keys, ids)).toThrow(/32 bytes/)
  })
})
