import { type FormEvent, type KeyboardEvent, useState } from 'react';
import { call } from '../api/http.js';
import { useAction } from '../api/use-action.js';
import { Button } from '../components/button.js';
import { TextArea } from '../components/field.js';
import { type Conversation, nextSpeaker } from './conversation.js';

/** Says the next turn in place of the agent whose turn it is. */
export function InjectTurn({ path, conversation }: { path: string; conversation: Conversation }) {
  const action = useAction();
  const [text, setText] = useState('');
  const send = (): void => {
    if (text.trim() === '') return;
    void action.run(async () => {
      await call('POST', `${path}/turns`, { body: { text } });
      setText('');
    });
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    send();
  };
  const press = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };
  return (
    <form onSubmit={submit} className="shrink-0 border-t bg-card p-3">
      <div className="mx-auto flex max-w-3xl items-end gap-2">
        <TextArea
          aria-label={`Say the next turn in place of ${nextSpeaker(conversation)?.name ?? 'an agent'}`}
          placeholder={`Say the next turn in place of ${nextSpeaker(conversation)?.name ?? 'an agent'}`}
          rows={1}
          value={text}
          onChange={({ target }) => setText(target.value)}
          onKeyDown={press}
        />
        <Button type="submit" disabled={action.pending}>
          Say it
        </Button>
      </div>
      {action.error !== undefined && (
        <p role="alert" className="mx-auto mt-2 max-w-3xl text-sm text-destructive">
          {action.error}
        </p>
      )}
    </form>
  );
}
