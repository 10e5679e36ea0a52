import { qrPng } from '../../platform/qr-png.ts'

const IMAGES_MAX = 1_000

export type QrImages = { png(brCode: string): Buffer }

/** Made when asked for and kept for a while: a page that shows a charge asks more than once. */
export function createQrImages(): QrImages {
  const images = new Map<string, Buffer>()
  return {
    png(brCode) {
      const known = images.get(brCode)
      if (known !== undefined) return known
      const image = qrPng(brCode)
      const oldest = images.keys().next()
      if (images.size >= IMAGES_MAX && !oldest.done) images.delete(oldest.value)
      images.set(brCode, image)
      return image
    },
  }
}
