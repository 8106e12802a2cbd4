import type { ReactNode } from 'react';
import { Field, Input } from '../components/field.js';
import { durationFault } from './durations.js';

interface DurationFieldProps {
  label: string;
  hint?: ReactNode;
  value: unknown;
  placeholder?: string;
  /** True if `${expressions}` are allowed. */
  templates?: boolean;
  /** Problem that the service has with the value. */
  error?: string | undefined;
  onChange: (value: string | undefined) => void;
}

/** Shows an input for a duration in the form of definitions: `500ms`, `1.5s`, `2m`, `48h`, `7d`. */
export function DurationField({ label, hint, value, placeholder, templates, error, onChange }: DurationFieldProps) {
  const text = typeof value === 'string' ? value : '';
  const fault = durationFault(text, templates) ?? error;
  return (
    <Field label={label} hint={hint} error={fault}>
      {(id) => (
        <Input
          id={id}
          value={text}
          aria-invalid={fault !== undefined}
          placeholder={placeholder}
          spellCheck={false}
          onChange={({ target }) => onChange(target.value === '' ? undefined : target.value)}
        />
      )}
    </Field>
  );
}
