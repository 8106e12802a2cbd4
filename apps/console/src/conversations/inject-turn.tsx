import { type FormEvent, type KeyboardEvent, useState } from 'react';
import { call } from '../api/http.js';
import { rpc } from '../api/json-rpc.js';
import { newId } from '../api/new-id.js';
import { useAction } from '../api/use-action.js';
import { Button } from '../components/button.js';
import { TextArea } from '../components/field.js';
import { type Conversation, nextSpeaker } from './conversation.js';

/** Shows a form that says the next turn in place of the agent. */
export function InjectTurn({ path, conversation }: { path: string; conversation: Conversation }) {
  const label = `Say the next turn in place of ${nextSpeaker(conversation)?.name ?? 'an agent'}`;
  return <SayForm label={label} button="Say it" say={(text) => call('POST', `${path}/turns`, { body: { text } })} />;
}

/** Shows a form that answers the question pending before the next turn. */
export function AnswerQuestion({ conversation: { conversationId: taskId } }: { conversation: Conversation }) {
  const answer = (text: string): Promise<unknown> => {
    const message = { messageId: newId(), role: 'ROLE_USER', taskId, parts: [{ text }] };
    return rpc('/a2a', 'SendMessage', { message, configuration: { returnImmediately: true } });
  };
  return <SayForm label="Answer the question" button="Answer" say={answer} />;
}

interface SayFormProps {
  label: string;
  button: string;
  say: (text: string) => Promise<unknown>;
}

function SayForm({ label, button, say }: SayFormProps) {
  const action = useAction();
  const [text, setText] = useState('');
  const send = (): void => {
    if (text.trim() === '') return;
    void action.run(async () => {
      await say(text);
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
          aria-label={label}
          placeholder={label}
          rows={1}
          value={text}
          onChange={({ target }) => setText(target.value)}
          onKeyDown={press}
        />
        <Button type="submit" disabled={action.pending}>
          {button}
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
