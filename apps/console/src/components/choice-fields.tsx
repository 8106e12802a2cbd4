import { type ReactNode, useId, useState } from 'react';
import { Field, Input, Select } from './field.js';

interface CheckFieldProps {
  label: string;
  hint?: ReactNode;
  checked: boolean;
  onChange: (checked: boolean) => void;
}

export function CheckField({ label, hint, checked, onChange }: CheckFieldProps) {
  const id = useId();
  return (
    <div className="space-y-1">
      <label htmlFor={id} className="flex items-center gap-2 text-sm font-medium">
        <input
          id={id}
          type="checkbox"
          className="size-4 shrink-0"
          checked={checked}
          onChange={({ target }) => onChange(target.checked)}
        />
        {label}
      </label>
      {hint !== undefined && <p className="text-xs text-muted-foreground">{hint}</p>}
    </div>
  );
}

interface ChoiceFieldProps<T extends string> {
  label: string;
  hint?: ReactNode;
  value: T;
  /** Label to show for each value that can be chosen. */
  options: Readonly<Record<T, string>>;
  onChange: (value: T) => void;
}

export function ChoiceField<T extends string>({ label, hint, value, options, onChange }: ChoiceFieldProps<T>) {
  return (
    <Field label={label} hint={hint}>
      {(id) => (
        <Select id={id} value={value} onChange={({ target }) => onChange(target.value as T)}>
          {(Object.entries(options) as [T, string][]).map(([key, text]) => (
            <option key={key} value={key}>
              {text}
            </option>
          ))}
        </Select>
      )}
    </Field>
  );
}

interface OptionalNumberProps {
  label: string;
  hint?: ReactNode;
  value: number | undefined;
  /** Text shown for the default, while the input is empty. */
  placeholder?: string;
  min?: number;
  max?: number;
  step?: number | 'any';
  /** Error that the service reports for the value. */
  error?: string | undefined;
  onChange: (value: number | undefined) => void;
}

/**
 * Shows an input for an optional number; a text that is not a number counts as none.
 * @param step attribute `step` of the input element
 */
export function OptionalNumber({ label, hint, value, error, onChange, step = 1, ...rest }: OptionalNumberProps) {
  const [text, setText] = useState(() => (value === undefined ? '' : String(value)));
  const changeNumber = (typed: string): void => {
    setText(typed);
    const number = Number(typed);
    onChange(typed.trim() === '' || !Number.isFinite(number) ? undefined : number);
  };
  return (
    <Field label={label} hint={hint} error={error}>
      {(id) => (
        <Input
          id={id}
          type="number"
          step={step}
          value={text}
          aria-invalid={error !== undefined}
          onChange={({ target }) => changeNumber(target.value)}
          {...rest}
        />
      )}
    </Field>
  );
}
