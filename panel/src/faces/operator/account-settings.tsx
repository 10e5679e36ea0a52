import {
  Button,
  Card,
  CheckField,
  Form,
  isSandbox,
  TextField,
  useAction,
  useLanguage,
  useToast,
  useWords,
} from '../../kit/index.ts'
import { changedSettings, type SettingsTexts, settingsOf } from './settings-changes.ts'
import type { Account } from './types.ts'
import { words } from './words.ts'

type SettingsProps = { readonly account: Account; readonly change: (body: unknown) => Promise<void> }

export function Settings({ account, change }: SettingsProps) {
  const w = useWords(words)
  const say = useToast()
  const { language } = useLanguage()
  const { autoSettle, ...always } = settingsOf(account)
  // In production nothing settles by itself: there is no such switch.
  const before: SettingsTexts = isSandbox() ? { ...always, autoSettle: autoSettle! } : always
  const { run, busy, error } = useAction(async (form: FormData) => {
    await change(changedSettings(before, form))
    say(w.saved)
  })
  const inLanguage = (text: string) => (language === 'pt' ? text.replace('.', ',') : text)
  const number = (name: string, label: string, hint?: string) => (
    <TextField
      label={label}
      name={name}
      {...(hint !== undefined && { hint })}
      inputMode="decimal"
      autoComplete="off"
      required
      defaultValue={inLanguage(String(before[name]))}
      error={error?.of(name)}
    />
  )
  const flag = (name: string, label: string, hint: string) => (
    <CheckField label={label} hint={hint} name={name} defaultChecked={before[name] === true} />
  )
  return (
    <Card title={w.settings}>
      {/* Anew when the account or the language is another one than before. */}
      <Form
        key={JSON.stringify([language, before])}
        onSubmit={(form) => void run(form)}
        error={error}
        shown={Object.keys(before)}
        end={
          <Button kind="primary" type="submit" busy={busy}>
            {w.save}
          </Button>
        }
      >
        <h3>{w.switches}</h3>
        <div className="grid">
          {flag('splitEnabled', w.splitEnabled, w.splitEnabledHint)}
          {flag('boleto.enabled', w.boletoEnabled, w.boletoEnabledHint)}
          {flag('uniqueReferenceCode', w.uniqueReferenceCode, w.uniqueReferenceCodeHint)}
          {isSandbox() && flag('autoSettle', w.autoSettle, w.autoSettleHint)}
        </div>
        <h3>{w.fees}</h3>
        <p className="small muted">{w.feesHint}</p>
        <div className="grid">
          {number('fees.PIX.percent', w.pixPercent)}
          {number('fees.PIX.fixed', w.pixFixed)}
          {number('fees.PAYOUT.fixed', w.payoutFixed)}
          {number('boleto.fee', w.boletoFee)}
        </div>
        <h3>{w.limits}</h3>
        <div className="grid">
          {number('overdraftLimit', w.overdraftLimit, w.overdraftLimitHint)}
          {number('splitRecipientsMax', w.splitRecipientsMax, w.splitRecipientsMaxHint)}
          {number('rateLimitPerSecond', w.rateLimit, w.rateLimitHint)}
        </div>
      </Form>
    </Card>
  )
}
