import { benchCreate } from './create.ts'

console.log(await benchCreate())
