/** More than enough for a QR code, and what a phone's camera makes is far larger. */
const SIDE_MAX = 1_600

/** The text of the QR code in a picture; undefined when there is none. Its reader is loaded when it is first needed. */
export async function decodeImage(file: Blob): Promise<string | undefined> {
  const [{ default: jsQr }, pixels] = await Promise.all([import('jsqr'), pixelsOf(file)])
  return pixels && (jsQr(pixels.data, pixels.width, pixels.height)?.data || undefined)
}

async function pixelsOf(file: Blob): Promise<ImageData | undefined> {
  const image = await createImageBitmap(file).catch(() => undefined)
  if (image === undefined) return undefined
  const scale = Math.min(1, SIDE_MAX / Math.max(image.width, image.height))
  const canvas = document.createElement('canvas')
  canvas.width = Math.max(1, Math.round(image.width * scale))
  canvas.height = Math.max(1, Math.round(image.height * scale))
  const context = canvas.getContext('2d')
  if (context === null) return undefined
  // A picture without a ground is read on white, as it is seen.
  context.fillStyle = '#ffffff'
  context.fillRect(0, 0, canvas.width, canvas.height)
  context.drawImage(image, 0, 0, canvas.width, canvas.height)
  image.close()
  return context.getImageData(0, 0, canvas.width, canvas.height)
}
