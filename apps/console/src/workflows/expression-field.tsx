import { CircleCheck } from 'lucide-react';
import { type ReactNode, useMemo } from 'react';
import { CodeField } from '../code/code-field.js';
import type { Draft } from './draft.js';
import { useExpressionCheck } from './expression-check.js';
import { wordsAt } from './expression-words.js';

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
  const isEmpty = text.trim() === '';
  const faults = useExpressionCheck(text, path, draft);
  const marks = useMemo(
    () => (isEmpty ? [] : faults?.map(({ detail, offset = 0 }) => ({ detail, offset, severity: 'error' as const }))),
    [faults, isEmpty],
  );
  return (
    <div>
      <CodeField
        label={label}
        hint={hint}
        language="expression"
        rows={2}
        value={text}
        placeholder={placeholder}
        invalid={faults !== undefined && faults.length > 0}
        marks={marks}
        suggest={(typed, caret, explicit) => wordsAt(typed, caret, draft, path, explicit)}
        words="Names"
        onChange={(typed) => onChange(typed === '' ? undefined : typed)}
      />
      <div
        role="status"
        className="mt-1 text-xs"
        data-expression={faults ? (faults.length === 0 ? 'valid' : 'invalid') : isEmpty ? undefined : 'unchecked'}
      >
        {faults?.length === 0 && (
          <span className="flex items-center gap-1 text-success">
            <CircleCheck className="size-3.5" aria-hidden /> The expression is valid.
          </span>
        )}
        {faults?.map(({ detail, offset }) => (
          <p key={`${offset} ${detail}`} className="break-words text-destructive">
            {detail}
            {offset !== undefined && ` (character ${offset + 1})`}
          </p>
        ))}
      </div>
    </div>
  );
}
