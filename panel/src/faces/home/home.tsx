import { ButtonLink, Card, Frame, isSandbox, useTitle, useWords } from '../../kit/index.ts'
import { words } from './words.ts'

export default function Home() {
  const w = useWords(words)
  useTitle(w.title)
  const sandboxOnly = [
    ['/register', w.register, w.registerHint],
    ['/phone', w.phone, w.phoneHint],
  ] as const
  const always = [
    ['/panel', w.panel, w.panelHint],
    ['/docs/', w.docs, w.docsHint],
    ['/operator', w.operator, w.operatorHint],
  ] as const
  const places = isSandbox() ? [...sandboxOnly, ...always] : always
  return (
    <Frame>
      <div className="stack-wide">
        <div className="stack-tight">
          <h1>{w.claim}</h1>
          <p className="muted">{w.intro}</p>
        </div>
        <div className="grid">
          {places.map(([href, title, hint], index) => (
            <Card key={href} title={title}>
              <p className="muted">{hint}</p>
              <div>
                <ButtonLink href={href} kind={index === 0 ? 'primary' : 'secondary'} aria-label={`${w.open}: ${title}`}>
                  {w.open}
                </ButtonLink>
              </div>
            </Card>
          ))}
        </div>
      </div>
    </Frame>
  )
}
