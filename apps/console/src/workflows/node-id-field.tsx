import { useState } from 'react';
import { Field, Input } from '../components/field.js';

interface NodeIdFieldProps {
  id: string;
  /** Returns the reason why the node cannot have an id; `undefined` if it can. */
  faultOf: (id: string) => string | undefined;
  onRename: (id: string) => void;
}

/**
 * Shows the input for a node's id. A valid id is applied when the input loses the focus, since other parts of the draft
 * refer to the id.
 */
export function NodeIdField({ id, faultOf, onRename }: NodeIdFieldProps) {
  const [text, setText] = useState(id);
  const fault = text === id ? undefined : faultOf(text);
  const applyId = (): void => {
    if (text === '') setText(id);
    else if (text !== id && fault === undefined) onRename(text);
  };
  return (
    <Field label="Id" hint="Letters and digits, so that a prompt can name it." error={fault}>
      {(field) => (
        <Input
          id={field}
          value={text}
          spellCheck={false}
          onChange={(event) => setText(event.target.value)}
          onBlur={applyId}
          onKeyDown={(event) => event.key === 'Enter' && applyId()}
        />
      )}
    </Field>
  );
}
