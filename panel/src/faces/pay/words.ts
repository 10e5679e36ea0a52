import { defineWords } from '../../kit/index.ts'

export const words = defineWords({
  title: ['Pagar com PIX', 'Pay by PIX'],
  pay: [(amount: string) => `Pagar ${amount}`, (amount: string) => `Pay ${amount}`],
  to: [(receiver: string) => `para ${receiver}`, (receiver: string) => `to ${receiver}`],
  amount: ['Valor', 'Amount'],
  receiver: ['Quem recebe', 'Receiver'],
  paidAt: ['Pago em', 'Paid at'],
  expiredAt: ['Venceu em', 'Expired at'],
  copy: ['Copiar o código PIX', 'Copy the PIX code'],
  what: ['o código PIX', 'the PIX code'],
  showCode: ['Ver o código', 'Show the code'],
  timeLeft: ['Tempo para pagar', 'Time left to pay'],
  days: [
    (days: number) => (days === 1 ? '1 dia' : `${days} dias`),
    (days: number) => (days === 1 ? '1 day' : `${days} days`),
  ],
  steps: ['Como pagar', 'How to pay'],
  step1: ['Abra o aplicativo do seu banco e escolha PIX.', 'Open the app of your bank and choose PIX.'],
  step2: [
    'Leia o QR code, ou cole o código em “PIX copia e cola”.',
    'Scan the QR code, or paste the code where the app takes one.',
  ],
  step3: [
    'Confira quem recebe e o valor, e confirme. Esta página muda sozinha.',
    'Check receiver and amount, and confirm. This page changes by itself.',
  ],
  toyBank: ['Pagar com o banco de brinquedo', 'Pay with the toy bank'],
  waiting: ['Aguardando o pagamento…', 'Waiting for the payment…'],
  paid: ['Pagamento confirmado', 'Payment confirmed'],
  paidHint: ['Pode fechar esta página.', 'You can close this page.'],
  expired: ['Esta cobrança venceu', 'This charge has expired'],
  cancelled: ['Esta cobrança foi cancelada', 'This charge was cancelled'],
  askAgain: [
    'Não pague o código antigo. Peça uma nova cobrança a quem vai receber.',
    'Do not pay the old code. Ask the receiver for a new charge.',
  ],
  unknown: ['Esta cobrança não existe', 'There is no such charge'],
  unknownHint: ['Confira o endereço que você recebeu.', 'Check the address that you were given.'],
  reconnecting: ['Sem resposta do serviço. Tentando de novo…', 'The service does not answer. Trying again…'],
})
