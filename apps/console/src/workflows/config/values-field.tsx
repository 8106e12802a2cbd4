import { Plus, X } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { Button } from '../../components/button.js';
import { Field, Input } from '../../components/field.js';
import { JsonField } from '../json-field.js';
import { PromptField } from '../prompt-field.js';
import type { ConfigMember } from './config-member.js';

interface ValuesFieldProps extends Pick<ConfigMember, 'draft' | 'onLanguage'> {
  label: string;
  hint?: ReactNode;
  /** Noun for one entry, shown in labels. */
  one: string;
  value: unknown;
  /** Path of the values in the draft: `nodes[2].config.values`. */
  path: string;
  /** Names of the required entries. The author may add other entries. */
  wanted?: readonly string[];
  onChange: (values: Record<string, unknown>) => void;
}

/** Shows named values: texts with references and expressions, or other JSON. */
export function ValuesField({
  label,
  hint,
  one,
  value,
  wanted = [],
  draft,
  path,
  onLanguage,
  onChange,
}: ValuesFieldProps) {
  const values = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
  const names = [...new Set([...wanted, ...Object.keys(values)])];
  const setValue = (name: string, next: unknown): void => onChange({ ...values, [name]: next });
  const omitValue = (name: string): Record<string, unknown> => {
    const { [name]: _gone, ...rest } = values;
    return rest;
  };
  return (
    <fieldset className="space-y-2">
      <legend className="text-sm font-medium">{label}</legend>
      {hint !== undefined && <p className="text-xs text-muted-foreground">{hint}</p>}
      {names.map((name) => (
        <div key={name} className="flex items-start gap-1 rounded-md border p-2">
          <div className="min-w-0 grow">
            {values[name] === undefined || typeof values[name] === 'string' ? (
              <PromptField
                field={{ label: name }}
                rows={2}
                value={(values[name] as string | undefined) ?? ''}
                draft={draft}
                path={`${path}.${name}`}
                onLanguage={onLanguage}
                onChange={(text) =>
                  text === '' && wanted.includes(name) ? onChange(omitValue(name)) : setValue(name, text)
                }
              />
            ) : (
              <JsonField field={{ label: name }} value={values[name]} onChange={(next) => setValue(name, next ?? '')} />
            )}
          </div>
          {!wanted.includes(name) && (
            <Button
              kind="quiet"
              className="px-1!"
              aria-label={`Remove ${name}`}
              onClick={() => onChange(omitValue(name))}
            >
              <X className="size-4" aria-hidden />
            </Button>
          )}
        </div>
      ))}
      <NewName one={one} taken={names} onAdd={(name) => setValue(name, '')} />
    </fieldset>
  );
}

function NewName({ one, taken, onAdd }: { one: string; taken: readonly string[]; onAdd: (name: string) => void }) {
  const [name, setName] = useState('');
  const fault = taken.includes(name) ? 'There is one of this name.' : undefined;
  const addName = (): void => {
    if (name === '' || fault !== undefined) return;
    onAdd(name);
    setName('');
  };
  return (
    <div className="flex items-end gap-2">
      <div className="min-w-0 grow">
        <Field label={`New ${one}`} error={fault}>
          {(id) => (
            <Input
              id={id}
              value={name}
              placeholder="name"
              spellCheck={false}
              onChange={({ target }) => setName(target.value)}
              onKeyDown={(event) => event.key === 'Enter' && addName()}
            />
          )}
        </Field>
      </div>
      <Button disabled={name === '' || fault !== undefined} onClick={addName}>
        <Plus className="size-4" aria-hidden /> Add {one}
      </Button>
    </div>
  );
}
