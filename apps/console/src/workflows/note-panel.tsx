import { Trash2 } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { Button } from '../components/button.js';
import { Field, TextArea } from '../components/field.js';
import type { Draft } from './draft.js';
import { setNoteText } from './draft-parts.js';
import type { DraftEditing } from './use-draft.js';

/** Maximum number of characters of a note that fit into its 4096 bytes in any script. */
const LONGEST = 1_300;

interface NotePanelProps {
  draft: Draft;
  index: number;
  change: DraftEditing['change'];
  onDelete: () => void;
}

/** Shows the text of a note. The text of a new note gets the focus. */
export function NotePanel({ draft, index, change, onDelete }: NotePanelProps) {
  const text = draft.notes?.[index]?.text ?? '';
  const field = useRef<HTMLTextAreaElement>(null);
  const isNew = useRef(text === '');
  useEffect(() => {
    if (isNew.current) field.current?.focus();
  }, []);
  return (
    <div className="space-y-4">
      <h2 className="font-semibold">Note</h2>
      <Field label="Text" hint={`For people only: a run ignores notes. At most ${LONGEST} characters.`}>
        {(id) => (
          <TextArea
            id={id}
            ref={field}
            rows={8}
            maxLength={LONGEST}
            value={text}
            onChange={({ target }) => change((last) => setNoteText(last, index, target.value), `note ${index}`)}
          />
        )}
      </Field>
      <Button kind="danger" onClick={onDelete}>
        <Trash2 className="size-4" aria-hidden /> Delete note
      </Button>
    </div>
  );
}
