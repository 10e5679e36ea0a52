import { describe, expect, test } from 'vitest'
import { embeddedSettings, settingArguments } from './settings.ts'

const GIB = 1024 ** 3

describe('embedded settings', () => {
  test('no machine is too small or too large to be durable', () => {
    for (const [memory, cores] of [
      [GIB / 8, 1],
      [4 * GIB, 4],
      [512 * GIB, 128],
    ] as const)
      expect(embeddedSettings(memory, cores)).toMatchObject({
        fsync: 'on',
        synchronous_commit: 'on',
        full_page_writes: 'on',
      })
  })

  test('memory follows the machine, between bounds', () => {
    const sharedBuffers = (memory: number) => embeddedSettings(memory, 2)['shared_buffers']
    expect([GIB / 8, GIB / 2, GIB, 2 * GIB, 64 * GIB].map(sharedBuffers)).toEqual([
      '32MB',
      '64MB',
      '128MB',
      '256MB',
      '256MB',
    ])
  })

  test('settings become arguments', () => {
    expect(settingArguments({ jit: 'off', timezone: 'UTC' })).toEqual(['-c', 'jit=off', '-c', 'timezone=UTC'])
  })
})
