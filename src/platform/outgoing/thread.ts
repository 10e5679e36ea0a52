import { parentPort, workerData } from 'node:worker_threads'
import { createOutgoing } from './outgoing.ts'
import type { Answered, Asked } from './threaded.ts'

/** The thread's side of `createThreadedOutgoing`. */
const port = parentPort!
const outgoing = createOutgoing(workerData)
let open = 0
let closing = false
let answers: Answered[] = []

function pass(): void {
  if (answers.length > 0) port.postMessage(answers)
  answers = []
  // Not when everything has ended by itself: a name that is still being looked up would keep the thread for a long time.
  if (closing && open === 0) process.exit()
}

function answer(one: Answered): void {
  open -= 1
  answers.push(one)
  if (answers.length === 1) setImmediate(pass)
}

port.on('message', (asked: Asked) => {
  if (asked === 'stop all') outgoing.stopAll()
  else if (asked === 'close') {
    closing = true
    if (open === 0) pass()
  } else {
    open += asked.length
    // As text, because bytes take the whole buffer along that they are a part of.
    for (const [id, request] of asked)
      void outgoing.post(request).then(({ body, ...rest }) => answer([id, rest, body.toString('latin1')]))
  }
})
