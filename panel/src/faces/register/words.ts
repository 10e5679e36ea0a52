import { defineWords } from '../../kit/index.ts'

export const words = defineWords({
  title: ['Criar conta', 'Create an account'],
  notYet: ['Esta página ainda não está pronta.', 'This page is not ready yet.'],
})
