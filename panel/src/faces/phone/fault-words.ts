import { defineWords } from '../../kit/index.ts'
import type { Fault } from './phone-api.ts'

/** Why a code cannot be paid, and why an answer was not taken, by the service's own codes. */
export const faultWords = defineWords({
  'brCode.textInvalid': ['O texto tem sinais que um código PIX não tem.', 'The text has signs that no PIX code has.'],
  'brCode.crcMissing': [
    'Isto não é um código PIX completo: falta o CRC no fim.',
    'This is no whole PIX code: the CRC at its end is missing.',
  ],
  'brCode.crcWrong': [
    'O CRC não confere: algo mudou ou se perdeu ao copiar.',
    'The CRC is wrong: something was changed or lost in copying.',
  ],
  'brCode.structureInvalid': ['A estrutura do código está quebrada.', 'The structure of the code is broken.'],
  'brCode.orderInvalid': ['Os campos do código estão fora de ordem.', 'The fields of the code are out of order.'],
  'brCode.fieldMissing': ['Falta um campo no código.', 'A field of the code is missing.'],
  'brCode.fieldInvalid': ['Um campo do código está errado.', 'A field of the code is wrong.'],
  'brCode.destinationInvalid': ['O código não diz a quem pagar.', 'The code does not say whom to pay.'],
  'brCode.hostsDiffer': [
    'Os dois endereços do código são de lugares diferentes.',
    'The two addresses of the code are of different places.',
  ],
  'code.static': [
    'Códigos com chave e sem endereço não são pagos nesta sandbox.',
    'Codes with a key and no address are not paid in this sandbox.',
  ],
  'location.foreign': [
    'A cobrança é de outro lugar, não desta sandbox.',
    'The charge is of another place, not of this sandbox.',
  ],
  'location.unknown': ['Não há cobrança neste endereço.', 'There is no charge at this address.'],
  'location.closed': [
    'A cobrança foi encerrada: cancelada ou vencida.',
    'The charge is closed: cancelled or out of time.',
  ],
  'location.failed': [
    'O endereço da cobrança não respondeu como devia.',
    'The address of the charge did not answer as it should.',
  ],
  'signature.malformed': ['O que o endereço mostra não está assinado.', 'What the address shows is not signed.'],
  'signature.algorithm': [
    'A assinatura usa um algoritmo que não vale.',
    'The signature uses an algorithm that does not count.',
  ],
  'signature.keysForeign': [
    'As chaves da assinatura são de outro lugar.',
    'The keys of the signature are of another place.',
  ],
  'signature.keyUnknown': ['A chave da assinatura é desconhecida.', 'The key of the signature is unknown.'],
  'signature.certificate': ['O certificado não é o da chave.', 'The certificate is not that of the key.'],
  'signature.wrong': ['A assinatura não confere.', 'The signature is wrong.'],
  'payload.invalid': ['O conteúdo assinado está errado.', 'The signed content is wrong.'],
  'key.unknown': ['Ninguém tem esta chave PIX.', 'Nobody has this PIX key.'],
  'charge.paid': ['Esta cobrança já foi paga.', 'This charge was paid already.'],
  'charge.withdrawn': ['O recebedor retirou esta cobrança.', 'The receiver has withdrawn this charge.'],
  'charge.expired': ['O prazo desta cobrança acabou.', 'The time of this charge is over.'],
  'mandate.answered': ['Esta autorização já foi respondida.', 'This mandate was answered already.'],
  'reading.unknown': [
    'Esta leitura não vale mais. Leia o código de novo.',
    'This reading does not count any more. Read the code again.',
  ],
  'reading.refused': [
    'Você recusou este pagamento. Leia o código de novo.',
    'You refused this payment. Read the code again.',
  ],
  'reading.paid': ['Este pagamento já foi feito.', 'This payment was made already.'],
  'balance.insufficient': ['Saldo insuficiente.', 'There is not enough money in the account.'],
  'balance.tooHigh': ['O saldo não pode ser tão alto.', 'The balance cannot be so high.'],
  'mandate.unknown': ['Esta autorização não existe neste celular.', 'This phone has no such mandate.'],
  'mandate.closed': ['Esta autorização não pode mais mudar.', 'This mandate cannot change any more.'],
  'mandate.payFirst': ['Pague a primeira cobrança para autorizar.', 'Pay the first charge to authorize.'],
  'mandate.notYours': ['Esta autorização não é sua.', 'This mandate is not yours.'],
  'maximum.notVariable': [
    'O valor é fixo: não há máximo a definir.',
    'The amount is fixed: there is no maximum to set.',
  ],
  'maximum.belowFloor': [
    'O máximo está abaixo do mínimo que o recebedor pede.',
    'The maximum is below what the receiver asks for at least.',
  ],
  other: ['Não foi possível.', 'It was not possible.'],
})

type FaultWords = (typeof faultWords)['pt']

/** In words, and where the service names a place in the code or a field, with that. */
export function faultText(w: FaultWords, { code, id, field, http }: Fault): string {
  const text = Object.hasOwn(w, code) ? (w[code as keyof FaultWords] as string) : w.other
  const place = id ?? field ?? http
  return place === undefined ? text : `${text} (${place})`
}
