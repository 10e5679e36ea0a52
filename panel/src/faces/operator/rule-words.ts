/** The rules of the audit have English names; here is what they are called in Portuguese. */
export const inPortuguese: Readonly<Record<string, string>> = {
  'every book balances: debits equal credits': 'todo livro fecha: débitos iguais a créditos',
  'no book is below its overdraft limit': 'nenhum livro está abaixo do seu limite',
  'every counter of a book is the sum of its transfers': 'todo contador de um livro é a soma dos seus lançamentos',
  'no transfer is without a book': 'nenhum lançamento está sem livro',
  'the sequence of a book has no gaps: version = count = highest number':
    'a sequência de um livro não tem falhas: versão = quantidade = maior número',
  'the balance after each line is the running sum of the lines before it':
    'o saldo depois de cada linha é a soma das linhas até ela',
  'the counts of statement lines are right, in all and by the hour':
    'as contagens de linhas do extrato estão certas, no total e por hora',
  'the trial balance over all books is zero': 'o balancete de todos os livros é zero',
  'a paid sale has posted what its legs leave and its fee, once and exactly':
    'uma venda paga lançou o que as partes deixam e a sua tarifa, uma vez e exatamente',
  'no line belongs to a sale that is not paid': 'nenhuma linha é de uma venda que não foi paga',
  'one end-to-end id pays at most one sale': 'um id fim a fim paga no máximo uma venda',
  'the counts of sales by hour and state are right': 'as contagens de vendas por hora e estado estão certas',
  'the counts of payments by hour are right': 'as contagens de pagamentos por hora estão certas',
  'a sale was made when its id says': 'uma venda foi criada quando o seu id diz',
  'the legs of a sale are as many and take as much as it says, and never more than it can pay its fee from':
    'as partes de uma venda são quantas e quanto ela diz, e sempre deixam o bastante para a tarifa',
  "every leg has its transaction on the recipient's side, which stands as its sale stands":
    'toda parte tem a sua transação do lado do recebedor, no mesmo estado da venda',
  'the shares of a sale leave its book when it is paid, once and exactly':
    'as partes de uma venda saem do livro quando ela é paga, uma vez e exatamente',
  'a share is credited once, exactly, and only when it is settled':
    'uma parte é creditada uma vez, exatamente, e só quando liquidada',
  'money in transit is the shares under way': 'o dinheiro em trânsito são as partes a caminho',
  'a message waits for every share under way, and for no other':
    'há uma mensagem à espera para cada parte a caminho, e para nenhuma outra',
  'what a book holds for reversals is the sum of the pending ones':
    'o que um livro retém para estornos é a soma dos pendentes',
  'a reversal was held once, and left its hold once, the way its state says':
    'um estorno foi retido uma vez e saiu da retenção uma vez, como diz o seu estado',
  'what a book holds for refunds is the sum of the pending ones':
    'o que um livro retém para devoluções é a soma das pendentes',
  'a refund was held once, and left its hold once, the way its state says':
    'uma devolução foi retida uma vez e saiu da retenção uma vez, como diz o seu estado',
  'the refunds of a sale that were not cancelled are what it says, and never more than it':
    'as devoluções não canceladas de uma venda são o que ela diz, e nunca mais do que ela',
  'the counts of refunds by hour and state are right': 'as contagens de devoluções por hora e estado estão certas',
  'the rail has an order for everything that is on its way out, and for nothing else':
    'o arranjo tem uma ordem para tudo o que está saindo, e para mais nada',
  'what a book holds for payouts is the sum of the pending ones':
    'o que um livro retém para transferências é a soma dos pendentes',
  'a payout was held once, and left its hold once, the way its state says':
    'uma transferência foi retida uma vez e saiu da retenção uma vez, como diz o seu estado',
  'the counts of payouts by hour and state are right': 'as contagens de transferências por hora e estado estão certas',
  'a charge stands as its sale stands': 'uma cobrança recorrente está como a sua venda está',
  'a mandate counts its open charges': 'uma autorização conta as suas cobranças em aberto',
  'the next cycle of a mandate waits to be registered, and no other':
    'só o próximo ciclo de uma autorização espera pelo registro',
  'a mandate that ended has no open charge, and one that is in force has something to wait for':
    'uma autorização que terminou não tem cobrança em aberto, e uma em vigor tem o que esperar',
  'no cycle between the first and the last of a mandate is missing':
    'nenhum ciclo entre o primeiro e o último de uma autorização está faltando',
  'whatever waits for its time has a due row, and nothing else has':
    'o que espera pela sua hora está na agenda, e nada mais está',
  'every mandate is found by its idRec': 'toda autorização é achada pelo seu idRec',
  'a plan counts its mandates': 'um plano conta as suas autorizações',
  'the first payment of a mandate is a sale of its id, and paid only when it was authorized':
    'o primeiro pagamento de uma autorização é uma venda com o seu id, paga só se foi autorizada',
  'every payment the rail reported paid a sale or became a reversal':
    'todo pagamento que o arranjo informou pagou uma venda ou virou um estorno',
  'every paid sale and every reversal was reported by the rail':
    'toda venda paga e todo estorno foram informados pelo arranjo',
  'the books hold what came in: clearing equals the payments reported':
    'os livros têm o que entrou: o recebido é igual aos pagamentos informados',
  'every notification waits, or its last attempt ended its series':
    'toda notificação espera, ou a sua última tentativa encerrou a série',
  'whatever waits has its notification, and counts its attempts rightly':
    'tudo o que espera tem a sua notificação e conta certo as tentativas',
  'attempts are numbered from 1 without gaps and belong to a notification':
    'as tentativas são numeradas de 1 em diante, sem falhas, e são de uma notificação',
  'news of one resource has turns of its own': 'cada notícia de um recurso tem a sua vez',
  "every phone's statement adds up to its balance, line by line":
    'o extrato de cada celular soma o seu saldo, linha a linha',
  'every payment of a phone that is done with was reported to the receiver, as it was made':
    'todo pagamento concluído de um celular foi informado a quem recebe, como foi feito',
}
