import { TriangleAlert } from 'lucide-react';
import { useId, useRef } from 'react';
import { Field, TextArea } from '../components/field.js';
import type { Draft } from './draft.js';
import type { NodeField } from '../nodes/node-fields.js';
import { unknownReferences } from './templates.js';
import { type Completing, useCompletion } from './use-completion.js';

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
  const ids = draft.nodes.map(({ id }) => id);
  const completing = useCompletion(area, ids, onChange);
  const { candidates, active, look, press, close } = completing;
  const open = candidates.length > 0;
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
              aria-expanded={open}
              aria-controls={list}
              aria-activedescendant={open ? `${list}-${active}` : undefined}
              onChange={({ target }) => {
                onChange(target.value);
                look(target.value, target.selectionStart);
              }}
              onKeyDown={press}
              onBlur={close}
            />
            <Candidates id={list} completing={completing} />
          </div>
        )}
      </Field>
      <UnknownReferences references={unknownReferences(value, ids)} />
    </div>
  );
}

function Candidates({ id, completing: { candidates, active, take } }: { id: string; completing: Completing }) {
  return (
    <div
      id={id}
      role="listbox"
      aria-label="Nodes"
      hidden={candidates.length === 0}
      className="absolute inset-x-0 top-full z-10 max-h-40 overflow-y-auto rounded-md border bg-card py-1 shadow-lg"
    >
      {candidates.map((candidate, index) => (
        <div
          key={candidate}
          id={`${id}-${index}`}
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
  );
}

function UnknownReferences({ references }: { references: readonly string[] }) {
  if (references.length === 0) return null;
  return (
    <p role="status" className="mt-1 flex gap-1.5 text-xs text-warning">
      <TriangleAlert className="size-3.5 shrink-0" aria-hidden />
      No node is called {references.join(', ')}: it will stay in the text as it is.
    </p>
  );
}
