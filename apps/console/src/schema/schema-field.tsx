import { type ReactNode, useState } from 'react';
import { ChoiceField } from '../components/choice-fields.js';
import { FIELD_KINDS, fieldsOf, schemaOf, wholeKind, wholeSchema } from './form-fields.js';
import { ChoicesField, FormBuilder } from './form-builder.js';
import { isSchema } from './json-schema.js';
import { JsonInput } from './schema-inputs.js';

interface SchemaFieldProps {
  label: string;
  hint?: ReactNode;
  value: unknown;
  /** True if the value is the schema of a form: an object's schema, or `undefined` for any text. */
  form?: boolean;
  onChange: (schema: unknown) => void;
}

type Kind = ReturnType<typeof wholeKind>;

const ANYTHING = { any: 'Anything' };
const FORM = { any: 'Any text', fields: 'A form with fields', json: 'A JSON Schema' };
const WHOLE = { ...ANYTHING, ...FIELD_KINDS, fields: 'An object with fields', json: 'A JSON Schema' };

/** Shows a builder for a JSON Schema of one value, or of an object with fields. Any other schema is edited as JSON. */
export function SchemaField({ label, hint, value, form = false, onChange }: SchemaFieldProps) {
  const [asJson, setAsJson] = useState(false);
  const kind = asJson ? 'json' : wholeKind(value);
  const options: Partial<Record<Kind, string>> = form ? FORM : WHOLE;
  const chooseKind = (next: Kind): void => {
    setAsJson(next === 'json');
    if (next === 'any') onChange(undefined);
    else if (next === 'fields') onChange(schemaOf(fieldsOf(value) ?? [], fieldsOf(value) ? value : undefined));
    else if (next === 'json') onChange(value ?? { type: 'object' });
    else onChange(wholeSchema(next));
  };
  return (
    <div className="space-y-3">
      <ChoiceField
        label={label}
        hint={hint}
        value={kind}
        options={{ ...options, ...(kind in options ? {} : { [kind]: kind }) } as Record<Kind, string>}
        onChange={chooseKind}
      />
      {kind === 'fields' && (
        <FormBuilder fields={fieldsOf(value) ?? []} onChange={(fields) => onChange(schemaOf(fields, value))} />
      )}
      {kind === 'choice' && (
        <ChoicesField choices={choicesIn(value)} onChange={(choices) => onChange(wholeSchema('choice', choices))} />
      )}
      {kind === 'json' && (
        <JsonInput
          field={{ label: 'JSON Schema', hint: undefined, error: undefined }}
          value={value}
          onChange={(schema) => schema !== undefined && onChange(schema)}
        />
      )}
    </div>
  );
}

function choicesIn(value: unknown): string[] {
  return isSchema(value) && Array.isArray(value.enum) ? value.enum.map(String) : [];
}
