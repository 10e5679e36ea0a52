import { resolve } from 'node:path'

/** Everything that the embedded server keeps below QUITADO_DATA. */
export type Folders = Readonly<{
  data: string
  cluster: string
  socket: string
  lockFile: string
  ownerFile: string
}>

export function foldersOf(folder: string): Folders {
  const data = resolve(folder)
  return {
    data,
    cluster: `${data}/postgres`,
    socket: `${data}/postgres-socket`,
    lockFile: `${data}/quitado.lock`,
    ownerFile: `${data}/quitado.pid`,
  }
}
