import { fork } from 'node:child_process'
import { join } from 'node:path'

export type Receiver = { readonly url: string; readonly pid: number; calls(): Promise<number>; stop(): void }

/** The merchants' endpoint in a process of its own; it counts its calls and keeps nothing of them. */
export async function startReceiver(): Promise<Receiver> {
  const child = fork(join(import.meta.dirname, 'webhook-receiver.ts'), ['count'], { serialization: 'advanced' })
  const heard = <Answer>() => new Promise<Answer>((done) => child.once('message', (said) => done(said as Answer)))
  const { port } = await heard<{ port: number }>()
  return {
    url: `http://127.0.0.1:${port}/hook`,
    pid: child.pid!,
    async calls() {
      const answer = heard<{ calls: number }>()
      child.send({ type: 'count' })
      return (await answer).calls
    },
    stop: () => void child.kill(),
  }
}
