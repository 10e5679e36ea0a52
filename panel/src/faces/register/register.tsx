import { useState } from 'react'
import { Frame, useTitle, useWords } from '../../kit/index.ts'
import { RegistrationForm } from './form.tsx'
import type { Registered } from './registration.ts'
import { Welcome } from './welcome.tsx'
import { words } from './words.ts'

/** `/register`: an account in a minute. The credentials live in this page's memory only and are gone with it. */
export default function Register() {
  const w = useWords(words)
  const [registered, setRegistered] = useState<Registered>()
  useTitle(w.title)
  return (
    <Frame narrow>
      {registered ? <Welcome registered={registered} /> : <RegistrationForm onRegistered={setRegistered} />}
    </Frame>
  )
}
