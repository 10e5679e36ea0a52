import { type Static, type TSchema, Type } from 'typebox'

/** A value that may be null, in the form that both the serialiser and OpenAPI 3.1 read. */
export const nullable = <S extends TSchema & { type?: string }>(schema: S) =>
  Type.Unsafe<Static<S> | null>({ ...schema, type: [schema.type, 'null'] })
