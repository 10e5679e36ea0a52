import jsqr from 'jsqr'
import { PNG } from 'pngjs'
import { describe, expect, test } from 'vitest'
import { qrPng } from './qr-png.ts'

const SCALE = 6
const QUIET = 4 * SCALE

function scan(png: Buffer) {
  const { width, height, data } = PNG.sync.read(png)
  const code = jsqr.default(new Uint8ClampedArray(data), width, height, { inversionAttempts: 'dontInvert' })
  return { width, height, data, code }
}

const dynamic = (token: string) =>
  `00020101021226760014br.gov.bcb.pix2554pix.example.com/qr/v2/${token}5204000053039865802BR5918MERCHANT TEST LTDA6009SAO PAULO62070503***6304497F`
const longestCode = `00020101021226990014br.gov.bcb.pix2577h.psp.example/${'a'.repeat(63)}5204000053039865802BR5925${'N'.repeat(25)}6015${'C'.repeat(15)}61080131010062070503***80990014br.gov.bcb.pix2577h.psp.example/rec/${'b'.repeat(59)}6304058A`
/** Spread over the letters that a code may hold, so that the symbols differ as real ones do. */
const textOf = (length: number, seed: number) =>
  Array.from({ length }, (_, at) => String.fromCharCode(0x20 + ((at * 31 + seed * 17 + at * at) % 95))).join('')

describe('a QR picture', () => {
  test('is read back by another program, for 60 charges', () => {
    for (let charge = 0; charge < 60; charge++) {
      const text = dynamic((charge * 7_919).toString(16).padStart(8, 'f').repeat(4))
      expect(scan(qrPng(text)).code?.data).toBe(text)
    }
  })

  test('is read back at every size, up to the 512 characters of the longest code that the rail allows', {
    timeout: 60_000,
  }, () => {
    for (let length = 8; length <= 512; length += 8) {
      const text = textOf(length, length)
      expect(scan(qrPng(text)).code?.data).toBe(text)
    }
  })

  test('is read back for the longest BR Code', () => {
    expect(longestCode.length).toBe(318)
    expect(scan(qrPng(longestCode)).code?.data).toBe(longestCode)
  })

  test('has one bit of grey per pixel', () => {
    const png = qrPng(longestCode)
    // Bit depth 1, colour type 0: the tenth and eleventh byte of the header that follows the signature.
    expect([...png.subarray(24, 29)]).toEqual([1, 0, 0, 0, 0])
    expect(png.length).toBeLessThan(4_000)
  })

  test('has six pixels a module and four modules of white around', () => {
    const { width, height, data, code } = scan(qrPng(dynamic('0'.repeat(32))))
    const modules = 17 + 4 * (code?.version ?? 0)
    expect([width, height]).toEqual([(modules + 8) * SCALE, (modules + 8) * SCALE])
    const isWhite = (x: number, y: number) => data[(y * width + x) * 4] === 255
    const edge = width - QUIET
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) {
        if (x < QUIET || y < QUIET || x >= edge || y >= edge) expect(isWhite(x, y)).toBe(true)
      }
    }
    // The finder patterns reach into three corners of the symbol, right up to the white.
    const corners = [
      [QUIET, QUIET],
      [edge - 1, QUIET],
      [QUIET, edge - 1],
    ] as const
    expect(corners.map(([x, y]) => isWhite(x, y))).toEqual([false, false, false])
  })

  test('is of error level M', () => {
    // 152 bytes are the most that version 8 holds at level M; L would hold them in version 7, Q only in 10.
    expect(scan(qrPng(textOf(152, 1))).code?.version).toBe(8)
    expect(scan(qrPng(textOf(153, 1))).code?.version).toBe(9)
  })

  test('cannot hold more than the largest symbol does', () => {
    expect(() => qrPng('a'.repeat(2332))).toThrow()
  })
})
