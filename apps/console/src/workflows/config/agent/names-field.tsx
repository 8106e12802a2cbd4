import { Plus, X } from 'lucide-react';
import { type ReactNode, useId, useState } from 'react';
import { Button } from '../../../components/button.js';
import { Field, Input } from '../../../components/field.js';

interface NamesFieldProps {
  /** Label of the list of names. */
  label: string;
  /** Label of the input that adds a name. */
  adding: string;
  hint?: ReactNode;
  names: readonly string[];
  /** Suggested names, with their descriptions. */
  offered: Readonly<Record<string, string>>;
  /** Returns the content beside a name of the list. */
  beside?: (name: string) => ReactNode;
  onChange: (names: string[]) => void;
}

/** Shows a list of names in order. Further names are typed, or chosen from suggestions. */
export function NamesField({ label, adding, hint, names, offered, beside, onChange }: NamesFieldProps) {
  const [typed, setTyped] = useState('');
  const list = useId();
  const name = typed.trim();
  const addName = (): void => {
    if (name === '') return;
    if (!names.includes(name)) onChange([...names, name]);
    setTyped('');
  };
  return (
    <div className="space-y-2">
      {names.length > 0 && (
        <ul aria-label={label} className="space-y-1">
          {names.map((it) => (
            <li key={it} data-name={it} className="flex items-center gap-2 rounded-md border px-2 py-1 text-sm">
              <code className="min-w-0 grow break-all">{it}</code>
              {beside?.(it)}
              <Button
                kind="quiet"
                className="px-1! py-0.5!"
                aria-label={`Remove ${it}`}
                onClick={() => onChange(names.filter((other) => other !== it))}
              >
                <X className="size-4" aria-hidden />
              </Button>
            </li>
          ))}
        </ul>
      )}
      <Field label={adding} hint={hint}>
        {(id) => (
          <span className="flex gap-2">
            <Input
              id={id}
              list={list}
              value={typed}
              autoComplete="off"
              spellCheck={false}
              onChange={({ target }) => setTyped(target.value)}
              onKeyDown={(event) => event.key === 'Enter' && addName()}
            />
            <Button aria-label="Add it" title="Add it" className="px-2!" disabled={name === ''} onClick={addName}>
              <Plus className="size-4" aria-hidden />
            </Button>
          </span>
        )}
      </Field>
      <datalist id={list}>
        {Object.entries(offered)
          .filter(([it]) => !names.includes(it))
          .map(([it, about]) => (
            <option key={it} value={it}>
              {about}
            </option>
          ))}
      </datalist>
    </div>
  );
}
