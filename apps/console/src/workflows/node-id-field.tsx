import { useState } from 'react';
import { Field, Input } from '../components/field.js';

/** The id of a node; it is taken over when the field is left, since others refer to it. */
export function NodeIdField({ id, onRename }: { id: string; onRename: (id: string) => void }) {
  const [text, setText] = useState(id);
  const take = (): void => {
    if (text !== '' && text !== id) onRename(text);
    else setText(id);
  };
  return (
    <Field label="Id" hint="Letters and digits, so that a prompt can name it.">
      {(field) => (
        <Input
          id={field}
          value={text}
          spellCheck={false}
          onChange={(event) => setText(event.target.value)}
          onBlur={take}
          onKeyDown={(event) => event.key === 'Enter' && take()}
        />
      )}
    </Field>
  );
}
