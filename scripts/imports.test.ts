import { describe, expect, test } from 'vitest'
import { importsOf, wrongImports, wrongPanelImports } from './imports.ts'

const verdict = (path: string, target: string) => wrongImports([{ path, imports: [target] }])

describe('import directions', () => {
  test('finds the relative imports of a file', () => {
    expect(
      importsOf(
        'modules/sale/sale.ts',
        "import { a } from '../../kernel/a.ts'\nexport { b } from './b.ts'\nimport 'node:fs'",
      ),
    ).toEqual(['kernel/a.ts', 'modules/sale/b.ts'])
  })

  test.each([
    ['modules/sale/sale.ts', 'kernel/cents.ts'],
    ['modules/sale/sale.ts', 'modules/sale/checkout.ts'],
    ['modules/sale/sale.ts', 'modules/ledger/index.ts'],
    ['service.ts', 'modules/sale/index.ts'],
    ['platform/log.ts', 'kernel/ids.ts'],
  ])('allows %s → %s', (path, target) => expect(verdict(path, target)).toEqual([]))

  test.each([
    ['kernel/cents.ts', 'platform/clock.ts', 'imports point down'],
    ['modules/sale/sale.ts', 'api/app.ts', 'imports point down'],
    ['modules/sale/sale.ts', 'modules/ledger/chart.ts', 'modules meet at index.ts only'],
    ['service.ts', 'modules/sale/sale.ts', 'modules meet at index.ts only'],
    ['modules/ledger/book.store.ts', 'modules/sale/index.ts', 'ledger may import no module'],
    ['attic/old.ts', 'kernel/cents.ts', 'a folder that scripts/arrows.ts does not know'],
  ])('refuses %s → %s', (path, target, why) => expect(verdict(path, target)[0]).toContain(why))
})

describe('import directions of the pages', () => {
  const panelVerdict = (path: string, target: string) => wrongPanelImports([{ path, imports: [target] }])

  test.each([
    ['main.tsx', 'faces/pay/pay.tsx'],
    ['faces/pay/pay.tsx', 'kit/index.ts'],
    ['faces/pay/pay.tsx', 'faces/pay/words.ts'],
    ['kit/copy.tsx', 'kit/button.tsx'],
  ])('allows %s → %s', (path, target) => expect(panelVerdict(path, target)).toEqual([]))

  test.each([
    ['faces/pay/pay.tsx', 'faces/phone/phone.tsx', 'a face imports itself and kit/index.ts'],
    ['faces/pay/pay.tsx', 'kit/button.tsx', 'a face imports itself and kit/index.ts'],
    ['kit/copy.tsx', 'faces/pay/pay.tsx', 'the kit knows itself only'],
    ['faces/pay/pay.tsx', '../../src/kernel/cents.ts', 'nothing of the service'],
  ])('refuses %s → %s', (path, target, why) => expect(panelVerdict(path, target)[0]).toContain(why))
})
