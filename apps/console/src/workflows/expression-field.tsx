import { CircleCheck } from 'lucide-react';
import type { ReactNode } from 'react';
import { Field } from '../components/field.js';
import { CompletingArea } from './completing-area.js';
import type { Draft } from './draft.js';
import { type ExpressionFault, placeIn, useExpressionCheck } from './expression-check.js';
import { withWord, wordsAt } from './expression-words.js';

interface ExpressionFieldProps {
  label: string;
  hint?: ReactNode;
  placeholder?: string;
  value: unknown;
  /** Path of the expression in the definition: `edges[3].when`. */
  path: string;
  draft: Draft;
  /** Called with the new expression; `undefined` for none. */
  onChange: (value: string | undefined) => void;
}

/** Shows an input for a CEL expression, which the service checks while it is typed. */
export function ExpressionField({ label, hint, placeholder, value, path, draft, onChange }: ExpressionFieldProps) {
  const text = typeof value === 'string' ? value : '';
  const faults = useExpressionCheck(text, path, draft);
  return (
    <div>
      <Field label={label} hint={hint}>
        {(id) => (
          <CompletingArea
            id={id}
            rows={2}
            spellCheck={false}
            className="font-mono text-xs!"
            value={text}
            placeholder={placeholder}
            aria-invalid={faults !== undefined && faults.length > 0}
            completer={{ at: (typed, caret) => wordsAt(typed, caret, draft), put: withWord }}
            words="Names"
            onChange={(typed) => onChange(typed === '' ? undefined : typed)}
          />
        )}
      </Field>
      <div
        role="status"
        className="mt-1 text-xs"
        data-expression={faults && (faults.length === 0 ? 'valid' : 'invalid')}
      >
        {faults?.length === 0 && (
          <span className="flex items-center gap-1 text-success">
            <CircleCheck className="size-3.5" aria-hidden /> The expression is valid.
          </span>
        )}
        {faults?.map((fault) => (
          <Fault key={`${fault.offset} ${fault.detail}`} text={text} fault={fault} />
        ))}
      </div>
    </div>
  );
}

/** Shows a problem of an expression and marks its position. */
function Fault({ text, fault: { detail, offset } }: { text: string; fault: ExpressionFault }) {
  const place = offset === undefined ? undefined : placeIn(text, offset);
  return (
    <div className="text-destructive">
      <p className="break-words">{detail}</p>
      {place && (
        <pre aria-hidden className="overflow-x-auto font-mono">
          {place.line}
          {'\n'}
          {' '.repeat(place.column)}^
        </pre>
      )}
    </div>
  );
}
