import { Type } from 'typebox'
import { maskDocument } from '../../kernel/documents.ts'
import { nullable } from '../../kernel/schema.ts'
import type { Recipient } from './recipients.ts'

export const recipientSchema = Type.Object({
  recipientId: Type.String(),
  name: Type.String(),
  document: nullable(Type.String()),
  status: Type.String({ enum: ['ACTIVE', 'INACTIVE'] }),
})

/** Recipients are other people's accounts: their documents are masked. */
export const recipientWire = ({ uuid, name, document, active }: Recipient) => ({
  recipientId: uuid,
  name,
  document: document === null ? null : maskDocument(document),
  status: active ? 'ACTIVE' : 'INACTIVE',
})
