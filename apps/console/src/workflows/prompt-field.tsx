import { TriangleAlert } from 'lucide-react';
import { Field } from '../components/field.js';
import { Button } from '../components/button.js';
import type { NodeField } from '../nodes/node-fields.js';
import { CompletingArea } from './completing-area.js';
import type { Draft } from './draft.js';
import { withWord, wordsAt } from './expression-words.js';
import { insertReference, completionAt, inExpression, unknownReferences } from './templates.js';
import type { Completer } from './use-completion.js';

interface PromptFieldProps {
  field: Pick<NodeField, 'label' | 'hint' | 'placeholder'>;
  value: string;
  draft: Draft;
  /** Id of the node that has the text; it is not suggested. */
  node?: string;
  onChange: (value: string) => void;
  rows?: number;
  /** Enables `${expressions}` in this workflow (sets its language to 2). */
  onLanguage?: (() => void) | undefined;
}

/**
 * Shows an input for a text with `{{references}}` to other nodes. It suggests references, and warns about unknown ones.
 */
export function PromptField({ field, value, draft, node, onChange, rows = 5, onLanguage }: PromptFieldProps) {
  const ids = draft.nodes.map(({ id }) => id);
  return (
    <div>
      <Field label={field.label} hint={field.hint}>
        {(id) => (
          <CompletingArea
            id={id}
            rows={rows}
            value={value}
            placeholder={field.placeholder}
            completer={templateCompleter(
              draft,
              ids.filter((it) => it !== node),
            )}
            words="Nodes"
            onChange={onChange}
          />
        )}
      </Field>
      <UnknownReferences references={unknownReferences(value, ids)} />
      {draft.language !== 2 && value.includes('${') && <NoExpressions onLanguage={onLanguage} />}
    </div>
  );
}

/** Returns a completer for references after `{{`, and in a workflow of language 2 for expressions after `${`. */
function templateCompleter(draft: Draft, ids: readonly string[]): Completer {
  const isWord = (text: string, caret: number): boolean => draft.language === 2 && inExpression(text, caret);
  return {
    at: (text, caret) => (isWord(text, caret) ? wordsAt(text, caret, draft) : completionAt(text, caret, ids)),
    put: (text, caret, from, word) =>
      isWord(text, caret) ? withWord(text, caret, from, word) : insertReference(text, caret, from, word),
  };
}

function UnknownReferences({ references }: { references: readonly string[] }) {
  if (references.length === 0) return null;
  return (
    <p role="status" className="mt-1 flex gap-1.5 text-xs text-warning">
      <TriangleAlert className="size-3.5 shrink-0" aria-hidden />
      No node is called {references.join(', ')}: the text stays unchanged.
    </p>
  );
}

function NoExpressions({ onLanguage }: { onLanguage: (() => void) | undefined }) {
  return (
    <div role="status" className="mt-1 space-y-1 text-xs text-warning">
      <p className="flex gap-1.5">
        <TriangleAlert className="size-3.5 shrink-0" aria-hidden />
        <span>
          <code>{'${…}'}</code> stays in the text as it is: this workflow does not use expressions in texts.
        </span>
      </p>
      {onLanguage && <Button onClick={onLanguage}>Use expressions in texts</Button>}
    </div>
  );
}
