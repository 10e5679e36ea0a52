import { type ComponentType, type ReactNode, useEffect, useRef } from 'react'
import { Route, Router, Switch, useLocation } from 'wouter'
import { Frame } from './frame.tsx'
import { NotFound } from './states.tsx'

export type Place = {
  /** Below the face. */
  readonly path: string
  /** Its name in the navigation; a page without one is reached from another. */
  readonly title: string | undefined
  /** Where the pages are that belong to it, when not below its own path. */
  readonly below?: string
  readonly Page: ComponentType
}

type PlacesProps = {
  readonly face: 'panel' | 'operator'
  readonly title: string
  /** In the order of the navigation. */
  readonly places: readonly Place[]
  readonly end: ReactNode
}

/** A face of many pages: its frame, its navigation, and the page that the address names. */
export const Places = (props: PlacesProps) => (
  <Router base={`/${props.face}`}>
    <Inside {...props} />
  </Router>
)

function Inside({ face, title, places, end }: PlacesProps) {
  const [path, navigate] = useLocation()
  useBeginning(path)
  const nav = places.flatMap((place) =>
    place.title === undefined
      ? []
      : {
          href: `/${face}${place.path === '/' ? '' : place.path}`,
          title: place.title,
          current: path === place.path || path.startsWith(`${place.below ?? place.path}/`),
        },
  )
  return (
    <Frame title={title} nav={nav} onNavigate={(href) => navigate(href.slice(face.length + 1) || '/')} end={end}>
      <Switch>
        {places.map(({ path: at, Page }) => (
          <Route key={at} path={at}>
            <Page />
          </Route>
        ))}
        <Route>
          <NotFound />
        </Route>
      </Switch>
    </Frame>
  )
}

/**
 * Another page begins at its top, for the eye and for the keyboard, as one that is loaded does. Whoever goes back is
 * brought by the browser to where they were.
 */
function useBeginning(path: string): void {
  const seen = useRef(path)
  const isBack = useRef(false)
  useEffect(() => {
    const onBack = () => {
      isBack.current = true
    }
    window.addEventListener('popstate', onBack)
    return () => window.removeEventListener('popstate', onBack)
  }, [])
  useEffect(() => {
    if (seen.current === path) return
    seen.current = path
    if (!isBack.current) window.scrollTo(0, 0)
    isBack.current = false
    document.getElementById('content')?.focus({ preventScroll: true })
  }, [path])
}
