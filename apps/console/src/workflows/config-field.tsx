import { Field, Input, TextArea } from '../components/field.js';
import type { Draft } from './draft.js';
import { JsonField } from './json-field.js';
import { KNOWN_TOOLS, type NodeField } from '../nodes/node-fields.js';
import { NumberField } from './number-field.js';
import { PromptField } from './prompt-field.js';

interface ConfigFieldProps {
  field: NodeField;
  value: unknown;
  draft: Draft;
  onChange: (value: unknown) => void;
}

/** One member of a node's config. */
export function ConfigField({ field, value, draft, onChange }: ConfigFieldProps) {
  const { label, kind, placeholder, hint } = field;
  const text = typeof value === 'string' ? value : '';
  if (kind === 'prompt') return <PromptField field={field} value={text} draft={draft} onChange={onChange} />;
  if (kind === 'json') return <JsonField field={field} value={value} onChange={onChange} />;
  if (kind === 'number') return <NumberField field={field} value={value} onChange={onChange} />;
  return (
    <Field label={label} hint={hint}>
      {(id) =>
        kind === 'long-text' ? (
          <TextArea id={id} rows={4} value={text} onChange={(event) => onChange(event.target.value)} />
        ) : (
          <>
            <Input
              id={id}
              value={text}
              placeholder={placeholder}
              list={kind === 'tool' ? `${id}-tools` : undefined}
              onChange={(event) => onChange(event.target.value)}
            />
            {kind === 'tool' && (
              <datalist id={`${id}-tools`}>
                {KNOWN_TOOLS.map((name) => (
                  <option key={name} value={name}>
                    {name}
                  </option>
                ))}
              </datalist>
            )}
          </>
        )
      }
    </Field>
  );
}
