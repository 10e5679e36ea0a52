import type { ComponentType } from 'react'

type Load = () => Promise<{ default: ComponentType }>

/** A face is a folder, loaded when its first path segment is asked for. `src/api/pages.ts` lists what is served. */
export const faces = {
  home: () => import('./faces/home/home.tsx'),
  register: () => import('./faces/register/register.tsx'),
  pay: () => import('./faces/pay/pay.tsx'),
  panel: () => import('./faces/panel/panel.tsx'),
  phone: () => import('./faces/phone/phone.tsx'),
  operator: () => import('./faces/operator/operator.tsx'),
} as const satisfies Record<string, Load>

export type FaceName = keyof typeof faces

export function faceOf(path: string): FaceName {
  const segment = path.split('/')[1] ?? ''
  return Object.hasOwn(faces, segment) ? (segment as FaceName) : 'home'
}
