import { defineWords } from '../../kit/index.ts'

export const words = defineWords({
  title: ['Banco de brinquedo', 'Toy bank'],
  notYet: ['Esta página ainda não está pronta.', 'This page is not ready yet.'],
})
