import '@copilotkit/react-core/v2/styles.css';
import { CopilotChat, CopilotKitProvider, useInterrupt } from '@copilotkit/react-core/v2';
import { type FormEvent } from 'react';
import { createRoot } from 'react-dom/client';

/** Question of a workflow, as an interrupt of AG-UI. */
interface Question {
  id: string;
  message?: string;
  responseSchema?: { properties?: Record<string, { type?: string }> };
}

/** Returns the answer in a form: an object for a question with a schema, else a text. */
function answerOf(form: FormData, { responseSchema }: Question): unknown {
  const fields = Object.entries(responseSchema?.properties ?? {});
  if (fields.length === 0) return textOf(form, 'answer');
  return Object.fromEntries(
    fields.map(([name, { type }]) => [name, type === 'boolean' ? form.get(name) === 'on' : textOf(form, name)]),
  );
}

function textOf(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === 'string' ? value : '';
}

function QuestionForm({ question, onAnswer }: { question: Question; onAnswer: (answer: unknown) => void }) {
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    onAnswer(answerOf(new FormData(event.currentTarget), question));
  };
  const fields = Object.entries(question.responseSchema?.properties ?? { answer: { type: 'string' } });
  return (
    <form onSubmit={submit} aria-label={question.message} style={{ display: 'grid', gap: 8, padding: 12 }}>
      <strong>{question.message}</strong>
      {fields.map(([name, { type }]) => (
        <label key={name}>
          {name} <input name={name} type={type === 'boolean' ? 'checkbox' : 'text'} />
        </label>
      ))}
      <button type="submit">Answer</button>
    </form>
  );
}

/** Chat with the workflow. All open questions must have an answer before the run continues. */
function Chat() {
  useInterrupt({
    render: ({ interrupts, resolve }) => (
      <>
        {(interrupts as Question[]).map((question) => (
          <QuestionForm key={question.id} question={question} onAnswer={(answer) => resolve(answer, question.id)} />
        ))}
      </>
    ),
  });
  return <CopilotChat />;
}

createRoot(document.getElementById('root')!).render(
  <CopilotKitProvider runtimeUrl="/api/copilotkit">
    <Chat />
  </CopilotKitProvider>,
);
