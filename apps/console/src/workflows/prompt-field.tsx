import { TriangleAlert } from 'lucide-react';
import { type KeyboardEvent, useId, useRef, useState } from 'react';
import { Field, TextArea } from '../components/field.js';
import type { Draft } from './draft.js';
import type { NodeField } from './node-fields.js';
import { complete, type Completion, completionAt, unknownReferences } from './templates.js';

interface PromptFieldProps {
  field: NodeField;
  value: string;
  draft: Draft;
  onChange: (value: string) => void;
}

/** A text with `{{references}}` to other nodes: completes them while they are typed, and warns of unknown ones. */
export function PromptField({ field, value, draft, onChange }: PromptFieldProps) {
  const list = useId();
  const area = useRef<HTMLTextAreaElement>(null);
  const [open, setOpen] = useState<Completion>();
  const [active, setActive] = useState(0);
  const ids = draft.nodes.map(({ id }) => id);
  const unknown = unknownReferences(value, ids);
  const look = (text: string, caret: number): void => {
    setOpen(completionAt(text, caret, ids));
    setActive(0);
  };
  const take = (id: string): void => {
    if (!open) return;
    const next = complete(value, area.current?.selectionStart ?? value.length, open.from, id);
    onChange(next.text);
    setOpen(undefined);
    requestAnimationFrame(() => {
      area.current?.focus();
      area.current?.setSelectionRange(next.caret, next.caret);
    });
  };
  const press = (event: KeyboardEvent): void => {
    if (!open) return;
    const count = open.candidates.length;
    const chosen = open.candidates[active];
    if (event.key === 'ArrowDown') setActive((active + 1) % count);
    else if (event.key === 'ArrowUp') setActive((active + count - 1) % count);
    else if ((event.key === 'Enter' || event.key === 'Tab') && chosen !== undefined) take(chosen);
    else if (event.key === 'Escape') setOpen(undefined);
    else return;
    event.preventDefault();
  };
  return (
    <div>
      <Field label={field.label} hint={field.hint}>
        {(id) => (
          <div className="relative">
            <TextArea
              ref={area}
              id={id}
              rows={5}
              value={value}
              placeholder={field.placeholder}
              role="combobox"
              aria-autocomplete="list"
              aria-expanded={open !== undefined}
              aria-controls={list}
              aria-activedescendant={open ? `${list}-${active}` : undefined}
              onChange={({ target }) => {
                onChange(target.value);
                look(target.value, target.selectionStart);
              }}
              onKeyDown={press}
              onBlur={() => setOpen(undefined)}
            />
            <div
              id={list}
              role="listbox"
              aria-label="Nodes"
              hidden={!open}
              className="absolute inset-x-0 top-full z-10 max-h-40 overflow-y-auto rounded-md border bg-card py-1 shadow-lg"
            >
              {open?.candidates.map((candidate, index) => (
                <div
                  key={candidate}
                  id={`${list}-${index}`}
                  role="option"
                  aria-selected={index === active}
                  className={`px-2.5 py-1 font-mono text-sm ${index === active ? 'bg-muted' : ''}`}
                  onPointerDown={(event) => {
                    event.preventDefault();
                    take(candidate);
                  }}
                >
                  {candidate}
                </div>
              ))}
            </div>
          </div>
        )}
      </Field>
      {unknown.length > 0 && (
        <p role="status" className="mt-1 flex gap-1.5 text-xs text-warning">
          <TriangleAlert className="size-3.5 shrink-0" aria-hidden />
          No node is called {unknown.join(', ')}: it will stay in the text as it is.
        </p>
      )}
    </div>
  );
}
