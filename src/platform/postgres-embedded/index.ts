export { EmbeddedPostgresError } from './error.ts'
export { attachEmbeddedPostgres } from './postmaster-file.ts'
export { type EmbeddedPostgres, type EmbeddedPostgresOptions, startEmbeddedPostgres } from './start.ts'
