import { defineWords } from '../../kit/index.ts'

export const words = defineWords({
  title: ['Pagamento', 'Payment'],
  notYet: ['Esta página ainda não está pronta.', 'This page is not ready yet.'],
})
