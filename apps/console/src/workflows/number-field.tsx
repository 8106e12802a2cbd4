import { useState } from 'react';
import { Field, Input } from '../components/field.js';
import { type NodeField, parseNumber } from '../nodes/node-fields.js';

interface NumberFieldProps {
  field: NodeField;
  value: unknown;
  onChange: (value: number) => void;
}

/** Shows an input for a number. An invalid text becomes the field's fallback. */
export function NumberField({ field, value, onChange }: NumberFieldProps) {
  const kept = typeof value === 'number' ? value : field.fallback;
  const [text, setText] = useState(String(kept ?? ''));
  return (
    <Field label={field.label} hint={field.hint}>
      {(id) => (
        <Input
          id={id}
          type="number"
          min={field.min}
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            onChange(parseNumber(event.target.value, field));
          }}
          onBlur={() => setText(String(parseNumber(text, field)))}
        />
      )}
    </Field>
  );
}
