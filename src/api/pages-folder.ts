import { resolve } from 'node:path'

/** Where the built pages lie. */
export const pagesFolder = resolve(import.meta.dirname, '../../panel/dist')
