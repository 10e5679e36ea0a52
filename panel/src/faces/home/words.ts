import { defineWords } from '../../kit/index.ts'

export const words = defineWords({
  title: ['Início', 'Home'],
  claim: ['Cobranças PIX, quitadas.', 'PIX charges, paid in full.'],
  intro: [
    'Crie cobranças, receba por QR code, divida, devolva e acompanhe cada centavo.',
    'Make charges, get paid by QR code, share, refund and follow every cent.',
  ],
  register: ['Criar uma conta de teste', 'Create a test account'],
  registerHint: [
    'Em um minuto: credenciais, a primeira cobrança e o QR code dela.',
    'In a minute: credentials, the first charge and its QR code.',
  ],
  panel: ['Painel do lojista', 'Merchant panel'],
  panelHint: ['Vendas, saldo, notificações e ajustes da conta.', 'Sales, balance, notifications and settings.'],
  phone: ['Banco de brinquedo', 'Toy bank'],
  phoneHint: ['Pague as suas próprias cobranças como um pagador.', 'Pay your own charges as a payer would.'],
  docs: ['Referência da API', 'API reference'],
  docsHint: ['Todas as rotas, com exemplos que rodam na página.', 'Every route, with examples that run in the page.'],
  operator: ['Operação', 'Operator console'],
  operatorHint: ['Para quem mantém o serviço.', 'For whoever runs the service.'],
  open: ['Abrir', 'Open'],
})
