import {
  api,
  Button,
  Card,
  CheckField,
  ErrorState,
  Facts,
  Form,
  Loading,
  TextField,
  typedAmount,
  useAction,
  useFaults,
  useLanguage,
  useTitle,
  useToast,
  useWords,
} from '../../kit/index.ts'
import { type Settings as Rules, settingsPath, useSettings } from './account-settings.ts'
import { ClockCard } from './clock.tsx'
import { words } from './words.ts'
import { accountWords } from './words-account.ts'

const shown = ['overdraftLimit', 'fees.PIX.percent', 'fees.PIX.fixed', 'fees.PAYOUT.fixed', 'boleto.fee']

/** Of a sandbox only: in production the operator has these in hand, and there is one time for all. */
export function Settings() {
  const w = useWords(words)
  const a = useWords(accountWords)
  useTitle(w.settings)
  const { data, error, refetch } = useSettings()
  return (
    <div className="stack">
      <h1>{w.settings}</h1>
      <ClockCard />
      {data === undefined && (error ? <ErrorState error={error} onRetry={() => void refetch()} /> : <Loading />)}
      {data && (
        <>
          <Card title={a.account}>
            <Facts
              items={[
                [a.accountName, data.account.name],
                [w.email, data.account.email],
                [a.accountId, <code key="id">{data.account.id}</code>],
              ]}
            />
          </Card>
          <RulesForm rules={data} onSaved={() => void refetch()} />
        </>
      )}
    </div>
  )
}

function RulesForm({ rules, onSaved }: { readonly rules: Rules; readonly onSaved: () => void }) {
  const a = useWords(accountWords)
  const say = useToast()
  const { language } = useLanguage()
  const { run, busy, error } = useAction(async (form: FormData) => {
    const isOn = (name: string) => form.get(name) !== null
    const body = {
      splitEnabled: isOn('splitEnabled'),
      uniqueReferenceCode: isOn('uniqueReferenceCode'),
      autoSettle: isOn('autoSettle'),
      overdraftLimit: typedAmount(form, 'overdraftLimit'),
      fees: {
        PIX: { percent: typedAmount(form, 'pixPercent'), fixed: typedAmount(form, 'pixFixed') },
        PAYOUT: { fixed: typedAmount(form, 'payoutFixed') },
      },
      boleto: { enabled: isOn('boletoEnabled'), fee: typedAmount(form, 'boletoFee') },
    }
    await api(settingsPath, { method: 'PUT', body })
    say(a.saved)
    onSaved()
  })
  const fault = useFaults(error)
  const amount = (label: string, name: string, value: number | null, field: string, hint?: string) => (
    <TextField
      label={label}
      name={name}
      inputMode="decimal"
      autoComplete="off"
      defaultValue={value === null ? '' : String(value).replace('.', language === 'pt' ? ',' : '.')}
      hint={hint}
      error={fault(field)}
    />
  )
  return (
    <Card title={a.rules}>
      <p className="muted">{a.rulesHint}</p>
      <Form
        onSubmit={(form) => void run(form)}
        error={error}
        shown={shown}
        end={
          <Button kind="primary" type="submit" busy={busy}>
            {a.save}
          </Button>
        }
      >
        <CheckField label={a.splitEnabled} name="splitEnabled" defaultChecked={rules.splitEnabled} />
        <CheckField
          label={a.uniqueReferenceCode}
          name="uniqueReferenceCode"
          hint={a.uniqueReferenceCodeHint}
          defaultChecked={rules.uniqueReferenceCode}
        />
        <CheckField label={a.autoSettle} name="autoSettle" hint={a.autoSettleHint} defaultChecked={rules.autoSettle} />
        <CheckField
          label={a.boletoEnabled}
          name="boletoEnabled"
          hint={a.boletoHint}
          defaultChecked={rules.boleto.enabled}
        />
        <div className="grid">
          {amount(a.pixPercent, 'pixPercent', rules.fees.PIX.percent, 'fees.PIX.percent')}
          {amount(a.pixFixed, 'pixFixed', rules.fees.PIX.fixed, 'fees.PIX.fixed')}
          {amount(a.payoutFixed, 'payoutFixed', rules.fees.PAYOUT.fixed, 'fees.PAYOUT.fixed')}
          {amount(a.boletoFee, 'boletoFee', rules.boleto.fee, 'boleto.fee')}
          {amount(a.overdraftLimit, 'overdraftLimit', rules.overdraftLimit, 'overdraftLimit', a.overdraftLimitHint)}
        </div>
      </Form>
    </Card>
  )
}
