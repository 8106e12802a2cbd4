import { type FormEvent, type KeyboardEvent, useState } from 'react';
import { callApi } from '../api/http.js';
import { callAgent } from '../api/json-rpc.js';
import { newId } from '../api/new-id.js';
import { useAction } from '../api/use-action.js';
import { Button } from '../components/button.js';
import { TextArea } from '../components/field.js';
import { type Conversation, nextSpeaker } from './conversation.js';

/** Shows a form to inject the next turn in place of the agent. */
export function InjectTurn({ path, conversation }: { path: string; conversation: Conversation }) {
  const label = `Say the next turn in place of ${nextSpeaker(conversation)?.name ?? 'an agent'}`;
  return <SayForm label={label} button="Say it" say={(text) => callApi('POST', `${path}/turns`, { body: { text } })} />;
}

/** Shows a form that answers the question pending before the next turn. */
export function AnswerQuestion({ conversation: { conversationId: taskId } }: { conversation: Conversation }) {
  const sendAnswer = (text: string): Promise<unknown> => {
    const message = { messageId: newId(), role: 'ROLE_USER', taskId, parts: [{ text }] };
    return callAgent('/a2a', 'SendMessage', { message, configuration: { returnImmediately: true } });
  };
  return <SayForm label="Answer the question" button="Answer" say={sendAnswer} />;
}

interface SayFormProps {
  label: string;
  button: string;
  say: (text: string) => Promise<unknown>;
}

function SayForm({ label, button, say }: SayFormProps) {
  const action = useAction();
  const [text, setText] = useState('');
  const sendText = (): void => {
    if (text.trim() === '') return;
    void action.run(async () => {
      await say(text);
      setText('');
    });
  };
  const submitTurn = (event: FormEvent): void => {
    event.preventDefault();
    sendText();
  };
  const sendOnEnter = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    sendText();
  };
  return (
    <form onSubmit={submitTurn} className="shrink-0 border-t bg-card p-3">
      <div className="mx-auto flex max-w-3xl items-end gap-2">
        <TextArea
          aria-label={label}
          placeholder={label}
          rows={1}
          value={text}
          onChange={({ target }) => setText(target.value)}
          onKeyDown={sendOnEnter}
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
