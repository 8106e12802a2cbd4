import { Plus, X } from 'lucide-react';
import { type ReactNode, useId, useState } from 'react';
import { Button } from '../components/button.js';
import { Field, FieldError, Input, Select, TextArea } from '../components/field.js';
import type { JsonSchema } from './json-schema.js';

interface LeafProps {
  field: { label: string; hint: string | undefined; error: string | undefined };
  value: unknown;
  onChange: (value: unknown) => void;
}

interface TypedProps extends LeafProps {
  schema: JsonSchema;
  required: boolean;
}

const FORMATS: Readonly<Record<string, string>> = { date: 'date', email: 'email', uri: 'url', time: 'time' };
/** Maximum number of characters of a text that gets a single-line input. */
const ONE_LINE = 80;

export function TextInput({ field, schema, value, required, onChange }: TypedProps) {
  const text = typeof value === 'string' ? value : '';
  const changeText = (typed: string): void => onChange(typed === '' ? undefined : typed);
  const type = FORMATS[schema.format ?? ''];
  const long = type === undefined && (schema.maxLength ?? Number.POSITIVE_INFINITY) > ONE_LINE;
  return (
    <Field {...field}>
      {(id) =>
        long ? (
          <TextArea
            id={id}
            rows={2}
            value={text}
            required={required}
            onChange={({ target }) => changeText(target.value)}
          />
        ) : (
          <Input
            id={id}
            type={type ?? 'text'}
            value={text}
            required={required}
            maxLength={schema.maxLength}
            onChange={({ target }) => changeText(target.value)}
          />
        )
      }
    </Field>
  );
}

export function BooleanInput({ field: { label, hint, error }, value, onChange }: LeafProps) {
  const id = useId();
  return (
    <div className="space-y-1">
      <label htmlFor={id} className="flex items-center gap-2 text-sm font-medium">
        <input
          id={id}
          type="checkbox"
          checked={value === true}
          onChange={({ target }) => onChange(target.checked)}
          className="size-4"
        />
        {label}
      </label>
      {hint !== undefined && <p className="text-xs text-muted-foreground">{hint}</p>}
      <FieldError error={error} />
    </div>
  );
}

/** Shows an input for a number; an invalid text gives `undefined`. */
export function NumberInput({ field, schema, value, required, onChange }: TypedProps) {
  const [text, setText] = useState(() => (typeof value === 'number' ? String(value) : ''));
  return (
    <Field {...field}>
      {(id) => (
        <Input
          id={id}
          type="number"
          step={schema.type === 'integer' ? 1 : 'any'}
          min={schema.minimum}
          max={schema.maximum}
          required={required}
          value={text}
          onChange={({ target }) => {
            setText(target.value);
            const number = Number(target.value);
            onChange(target.value.trim() === '' || !Number.isFinite(number) ? undefined : number);
          }}
        />
      )}
    </Field>
  );
}

interface ChoiceInputProps extends LeafProps {
  choices: readonly unknown[];
  required: boolean;
}

/** Maximum number of values that are shown as radio buttons. */
const FEW = 4;

/** Shows a choice between values. */
export function ChoiceInput({ field, value, choices, required, onChange }: ChoiceInputProps) {
  const at = choices.findIndex((choice) => JSON.stringify(choice) === JSON.stringify(value));
  if (choices.length <= FEW && required) return <Buttons field={field} at={at} choices={choices} onChange={onChange} />;
  return (
    <Field {...field}>
      {(id) => (
        <Select
          id={id}
          value={at < 0 ? '' : at}
          required={required}
          onChange={({ target }) => onChange(target.value === '' ? undefined : choices[Number(target.value)])}
        >
          <option value="">Choose …</option>
          {choices.map((choice, index) => (
            <option key={wordOf(choice)} value={index}>
              {wordOf(choice)}
            </option>
          ))}
        </Select>
      )}
    </Field>
  );
}

function Buttons({
  field,
  at,
  choices,
  onChange,
}: Pick<ChoiceInputProps, 'field' | 'choices' | 'onChange'> & { at: number }) {
  const name = useId();
  const { label, hint, error } = field;
  return (
    <fieldset className="space-y-1">
      <legend className="text-sm font-medium">{label}</legend>
      {hint !== undefined && <p className="text-xs text-muted-foreground">{hint}</p>}
      <div className="flex flex-wrap gap-x-4 gap-y-1">
        {choices.map((choice, index) => (
          <label key={wordOf(choice)} className="flex items-center gap-1.5 text-sm">
            <input
              type="radio"
              name={name}
              required
              checked={index === at}
              onChange={() => onChange(choice)}
              className="size-4"
            />
            {wordOf(choice)}
          </label>
        ))}
      </div>
      <FieldError error={error} />
    </fieldset>
  );
}

function wordOf(choice: unknown): string {
  return typeof choice === 'string' ? choice : JSON.stringify(choice);
}

interface ListInputProps extends Omit<LeafProps, 'onChange'> {
  onChange: (items: readonly unknown[]) => void;
  /** Name of the list whose entries are edited. */
  name: string;
  newItem: unknown;
  children: (item: unknown, index: number, change: (item: unknown) => void) => ReactNode;
}

/** Shows an input for each entry of a list. */
export function ListInput({ name, field: { label, hint, error }, value, newItem, onChange, children }: ListInputProps) {
  const items: readonly unknown[] = Array.isArray(value) ? value : [];
  return (
    <fieldset className="space-y-3 rounded-md border p-3">
      <legend className="px-1 text-sm font-medium">{label}</legend>
      {hint !== undefined && <p className="text-xs text-muted-foreground">{hint}</p>}
      <FieldError error={error} />
      {items.map((item, index) => (
        <div key={`${index} of ${items.length}`} className="flex items-start gap-1">
          <div className="min-w-0 grow">
            {children(item, index, (next) =>
              onChange(items.map((it, at) => (at === index ? (next ?? newItem ?? '') : it))),
            )}
          </div>
          <Button
            kind="quiet"
            className="px-1.5!"
            aria-label={`Remove ${name} ${index + 1}`}
            onClick={() => onChange(items.filter((_, at) => at !== index))}
          >
            <X className="size-4" aria-hidden />
          </Button>
        </div>
      ))}
      <Button onClick={() => onChange([...items, newItem ?? ''])}>
        <Plus className="size-4" aria-hidden /> Add to {name}
      </Button>
    </fieldset>
  );
}

/** Shows an input for any JSON. Invalid JSON is reported, gives `undefined`, and blocks the submission of its form. */
export function JsonInput({ field, value, onChange }: LeafProps) {
  const [text, setText] = useState(() => (value === undefined ? '' : JSON.stringify(value, undefined, 2)));
  const [fault, setFault] = useState<string>();
  const changeJson = (typed: string): void => {
    setText(typed);
    setFault(undefined);
    try {
      onChange(typed.trim() === '' ? undefined : JSON.parse(typed));
    } catch (error) {
      onChange(undefined);
      setFault(`This is not JSON yet: ${(error as Error).message}`);
    }
  };
  return (
    <Field {...field} hint={field.hint ?? 'As JSON.'} error={fault ?? field.error}>
      {(id) => (
        <TextArea
          id={id}
          ref={(area) => area?.setCustomValidity(fault ?? '')}
          rows={4}
          spellCheck={false}
          className="font-mono text-xs!"
          value={text}
          onChange={({ target }) => changeJson(target.value)}
        />
      )}
    </Field>
  );
}
