import { TriangleAlert } from 'lucide-react';
import { CodeField } from '../code/code-field.js';
import { Button } from '../components/button.js';
import type { NodeField } from '../nodes/node-fields.js';
import { useTextMarks } from './checked-draft.js';
import type { Draft } from './draft.js';
import { templateWordsAt, unknownReferences } from './templates.js';

interface PromptFieldProps {
  field: Pick<NodeField, 'label' | 'hint' | 'placeholder'>;
  value: string;
  draft: Draft;
  /** Path of the text in the definition: `nodes[2].config.prompt`. */
  path: string;
  onChange: (value: string) => void;
  rows?: number;
  /** Enables `${expressions}` in this workflow (sets its language to 2). */
  onLanguage?: (() => void) | undefined;
}

/**
 * Shows an input for a text with `{{references}}` to other nodes. It suggests references, warns about unknown
 * references, and marks problems that the service finds in the text.
 */
export function PromptField({ field, value, draft, path, onChange, rows = 5, onLanguage }: PromptFieldProps) {
  const ids = draft.nodes.map(({ id }) => id);
  return (
    <div>
      <CodeField
        label={field.label}
        hint={field.hint}
        language={draft.language === 2 ? 'template' : 'text'}
        rows={rows}
        value={value}
        placeholder={field.placeholder}
        marks={useTextMarks(path)}
        suggest={(text, caret, explicit) => templateWordsAt(text, caret, draft, path, explicit)}
        words="Nodes"
        onChange={onChange}
      />
      <UnknownReferences references={unknownReferences(value, ids)} />
      {draft.language !== 2 && value.includes('${') && <NoExpressions onLanguage={onLanguage} />}
    </div>
  );
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
