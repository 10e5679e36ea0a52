import pg from 'pg'
import { type Connection, clientConfig } from '../../src/platform/database/database.ts'

export type TestServer = ({ readonly host: string } | { readonly url: string }) & { readonly template?: string }

/** A database of the test server. */
export function placeOf(server: TestServer, database: string): Connection {
  if ('host' in server) return { host: server.host, database }
  const url = new URL(server.url)
  url.pathname = `/${database}`
  return { url: url.href }
}

async function asAdministrator(server: TestServer, sql: string): Promise<void> {
  const home = 'host' in server ? placeOf(server, 'postgres') : { url: server.url }
  const client = new pg.Client(clientConfig(home))
  client.on('error', () => {})
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}

export const createDatabase = (server: TestServer, name: string, template?: string) =>
  asAdministrator(server, `create database ${name}${template ? ` template ${template} strategy file_copy` : ''}`)

export const dropDatabase = (server: TestServer, name: string) =>
  asAdministrator(server, `drop database if exists ${name} with (force)`)
