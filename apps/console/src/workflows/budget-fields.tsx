import type { Schemas } from '#libs/client';
import { ChoiceField, OptionalNumber } from '../components/choice-fields.js';
import { FieldError } from '../components/field.js';

type Budget = NonNullable<Schemas['WorkflowBody']['budget']>;

interface BudgetFieldsProps {
  value: Budget | undefined;
  error: string | undefined;
  onChange: (value: Budget | undefined) => void;
}

/** Shows inputs for the budget of a workflow. Without a limit there is no budget. */
export function BudgetFields({ value, error, onChange }: BudgetFieldsProps) {
  const changeBudget = (members: { [Name in keyof Budget]?: Budget[Name] | undefined }): void => {
    const next = Object.entries({ ...value, ...members }).filter(([, it]) => it !== undefined);
    const isLimited = next.some(([name]) => name === 'usd' || name === 'tokens');
    onChange(isLimited ? (Object.fromEntries(next) as Budget) : undefined);
  };
  return (
    <>
      <OptionalNumber
        label="Budget in US dollars"
        hint="Of a run and all that it calls. Every model needs a price. Empty: no limit."
        min={0}
        step="any"
        value={value?.usd}
        onChange={(usd) => changeBudget({ usd })}
      />
      <OptionalNumber
        label="Budget in tokens"
        min={1}
        value={value?.tokens}
        onChange={(tokens) => changeBudget({ tokens })}
      />
      {value && (
        <ChoiceField
          label="When the budget is used up"
          value={value.onExceeded ?? 'stop'}
          options={{ stop: 'Stop', ask: 'Ask how much more', warn: 'Only warn' }}
          onChange={(onExceeded) => changeBudget({ onExceeded: onExceeded === 'stop' ? undefined : onExceeded })}
        />
      )}
      <FieldError error={error} />
    </>
  );
}
