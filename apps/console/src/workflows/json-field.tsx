import { useState } from 'react';
import { Field, TextArea } from '../components/field.js';
import type { NodeField } from '../nodes/node-fields.js';

interface JsonFieldProps {
  field: Pick<NodeField, 'label' | 'hint'>;
  value: unknown;
  onChange: (value: unknown) => void;
}

/** Shows an input for any JSON. Invalid JSON is reported, and the last valid value stays. */
export function JsonField({ field, value, onChange }: JsonFieldProps) {
  const [text, setText] = useState(() => (value === undefined ? '' : JSON.stringify(value, undefined, 2)));
  const [fault, setFault] = useState<string>();
  const changeJson = (typed: string): void => {
    setText(typed);
    try {
      onChange(typed.trim() === '' ? undefined : JSON.parse(typed));
      setFault(undefined);
    } catch (error) {
      setFault(`This is not JSON yet: ${(error as Error).message}`);
    }
  };
  return (
    <Field label={field.label} hint={field.hint} error={fault}>
      {(id) => (
        <TextArea
          id={id}
          rows={8}
          spellCheck={false}
          className="font-mono text-xs!"
          value={text}
          onChange={(event) => changeJson(event.target.value)}
        />
      )}
    </Field>
  );
}
