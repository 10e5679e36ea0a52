import { Empty, Frame, useTitle, useWords } from '../../kit/index.ts'
import { words } from './words.ts'

export default function Operator() {
  const w = useWords(words)
  useTitle(w.title)
  return (
    <Frame title={w.title}>
      <h1>{w.title}</h1>
      <Empty title={w.notYet} />
    </Frame>
  )
}
