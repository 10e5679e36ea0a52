// A QR code as the smallest honest PNG: one bit per pixel, black and white, no palette.

import { crc32, deflateSync } from 'node:zlib'
import { encodeQR } from 'qr'

const SCALE = 6
/** ISO/IEC 18004 asks for four modules of white on each side. */
const QUIET_ZONE = 4

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

/** Error level M: a payer's camera may lose 15 % of the symbol. */
export function qrPng(text: string): Buffer {
  const modules = encodeQR(text, 'raw', { ecc: 'medium', border: QUIET_ZONE })
  const side = modules.length * SCALE
  return Buffer.concat([
    signature,
    chunk('IHDR', header(side)),
    chunk('IDAT', deflateSync(scanlines(modules, side))),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function header(side: number): Buffer {
  const data = Buffer.alloc(13)
  data.writeUInt32BE(side, 0)
  data.writeUInt32BE(side, 4)
  // Bit depth 1; the zeros after it: greyscale, deflate, adaptive filters, no interlace.
  data[8] = 1
  return data
}

/** Each row of modules is drawn once and copied; a row begins with its filter, 0 for none. */
function scanlines(modules: readonly (readonly boolean[])[], side: number): Buffer {
  const rowLength = 1 + Math.ceil(side / 8)
  const rows = Buffer.alloc(rowLength * side)
  for (const [index, dark] of modules.entries()) {
    const start = index * SCALE * rowLength
    for (let x = 0; x < side; x++) {
      // A set bit is white.
      if (!dark[Math.floor(x / SCALE)]) rows[start + 1 + (x >> 3)]! |= 0x80 >> (x & 7)
    }
    for (let copy = 1; copy < SCALE; copy++) rows.copyWithin(start + copy * rowLength, start, start + rowLength)
  }
  return rows
}

/** Length, type and data, then the CRC of type and data. */
function chunk(type: string, data: Buffer): Buffer {
  const bytes = Buffer.alloc(12 + data.length)
  bytes.writeUInt32BE(data.length, 0)
  bytes.write(type, 4, 'latin1')
  data.copy(bytes, 8)
  bytes.writeUInt32BE(crc32(bytes.subarray(4, 8 + data.length)), 8 + data.length)
  return bytes
}
