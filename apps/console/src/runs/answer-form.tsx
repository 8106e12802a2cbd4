import { type FormEvent, useState } from 'react';
import { sentenceOf } from '../api/problem.js';
import { Button } from '../components/button.js';
import { Field, TextArea } from '../components/field.js';
import { answerRun } from './run-api.js';
import type { NodePicture } from './run-picture.js';

interface AnswerFormProps {
  run: { runId: string; workflow: string };
  node: NodePicture;
}

/** Answers the node that a run waits for. */
export function AnswerForm({ run, node }: AnswerFormProps) {
  const [text, setText] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const send = (event: FormEvent): void => {
    event.preventDefault();
    setBusy(true);
    answerRun(run.workflow, run.runId, text)
      .then(() => {
        setText('');
        setError(undefined);
      }, setError)
      .finally(() => setBusy(false));
  };
  return (
    <form onSubmit={send} className="space-y-2 rounded-md border border-warning/50 bg-warning/5 p-3">
      <Field
        label={`Answer to ${node.id}`}
        hint={node.question}
        error={error === undefined ? undefined : sentenceOf(error)}
      >
        {(id) => <TextArea id={id} rows={3} required value={text} onChange={(event) => setText(event.target.value)} />}
      </Field>
      <Button kind="primary" type="submit" disabled={busy || text.trim() === ''}>
        Send answer
      </Button>
    </form>
  );
}
