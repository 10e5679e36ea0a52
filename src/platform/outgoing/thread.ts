import { parentPort, workerData } from 'node:worker_threads'
import { createOutgoing } from './outgoing.ts'
import type { Answered, Asked } from './threaded.ts'

/** The thread's side of `createThreadedOutgoing`. */
const port = parentPort!
const outgoing = createOutgoing(workerData)
let answers: Answered[] = []

function answer(one: Answered): void {
  answers.push(one)
  if (answers.length > 1) return
  setImmediate(() => {
    port.postMessage(answers)
    answers = []
  })
}

port.on('message', (asked: Asked) => {
  if (asked === 'stop all') outgoing.stopAll()
  else if (asked === 'close') void outgoing.close().then(() => setImmediate(() => port.close()))
  // As text, because bytes take the whole buffer along that they are a part of.
  else
    for (const [id, request] of asked)
      void outgoing.post(request).then(({ body, ...rest }) => answer([id, rest, body.toString('latin1')]))
})
