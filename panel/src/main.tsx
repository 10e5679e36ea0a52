import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { lazy, StrictMode, Suspense } from 'react'
import { createRoot } from 'react-dom/client'
import { faceOf, faces } from './faces.ts'
import { ApiError, Guard, LanguageProvider, Loading, ToastProvider } from './kit/index.ts'
import './kit/kit.css'

const TRIES_MAX = 3

/** A refusal is an answer; only silence and trouble are asked about again. */
const queries = new QueryClient({
  defaultOptions: {
    queries: {
      retry: (count, error) =>
        count < TRIES_MAX && (!(error instanceof ApiError) || error.http === 0 || error.http >= 500),
      refetchOnWindowFocus: true,
    },
  },
})

const Face = lazy(faces[faceOf(location.pathname)])

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <LanguageProvider>
      <Guard>
        <QueryClientProvider client={queries}>
          <ToastProvider>
            <Suspense fallback={<Loading />}>
              <Face />
            </Suspense>
          </ToastProvider>
        </QueryClientProvider>
      </Guard>
    </LanguageProvider>
  </StrictMode>,
)
