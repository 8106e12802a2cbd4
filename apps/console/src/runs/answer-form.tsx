import { type FormEvent, useState } from 'react';
import { useAction } from '../api/use-action.js';
import { Button } from '../components/button.js';
import { Field, FieldError, TextArea } from '../components/field.js';
import { Coming } from '../components/time.js';
import { ViewBoundary } from '../components/view-boundary.js';
import { initialValue, isSchema, type JsonSchema } from '../schema/json-schema.js';
import { SchemaInput } from '../schema/schema-form.js';
import { type Answer, answerQuestion } from './run-api.js';

/** A question of a node, with the form of its answer. */
export interface RunQuestion {
  runId: string;
  /** Id of the node that asks, or the name of its instance. */
  instance: string;
  text: string;
  /** JSON Schema of the answer; without it, the answer is a text. */
  form?: unknown;
  assignee?: string | undefined;
  deadline?: string | undefined;
  /** Problems that the previous answer to this question had, so that it was rejected. */
  violations?: readonly Violation[] | undefined;
}

/** A problem of an answer, as the agent or the service reports it. */
interface Violation {
  path?: string;
  field?: string;
  detail?: string;
  description?: string;
}

interface AnswerFormProps {
  question: RunQuestion;
  /** True if the page already shows the question's text above the form. */
  isAsked?: boolean;
  onAnswered?: () => void;
}

/**
 * Shows the form that answers a node's question: the fields of its schema, or a text.
 * - The input is kept as long as the question is the same.
 * - It is discarded when the node asks another question.
 */
export function AnswerForm(props: AnswerFormProps) {
  const { text, form } = props.question;
  return <OneAnswer key={JSON.stringify([text, form])} {...props} />;
}

function OneAnswer({ question, isAsked = false, onAnswered }: AnswerFormProps) {
  const { runId, instance, form, assignee, deadline } = question;
  const text = isAsked ? '' : question.text;
  const action = useAction();
  const sendAnswer = async (answer: Answer): Promise<boolean> => {
    let taken = false;
    await action.run(async () => {
      await answerQuestion(runId, instance, answer);
      taken = true;
      onAnswered?.();
    });
    return taken;
  };
  return (
    <div className="space-y-2 rounded-md border border-warning/50 bg-warning/5 p-3">
      {(assignee !== undefined || deadline !== undefined) && (
        <p className="flex flex-wrap gap-x-3 text-xs text-muted-foreground">
          {assignee !== undefined && <span>For {assignee}</span>}
          {deadline !== undefined && (
            <span>
              Due <Coming at={deadline} />
            </span>
          )}
        </p>
      )}
      {isYesOrNo(question.text) && form === undefined ? (
        <YesOrNo instance={instance} text={text} action={action} onSend={sendAnswer} />
      ) : isSchema(form) ? (
        <ViewBoundary>
          <FormAnswer question={{ ...question, text }} form={form} action={action} onSend={sendAnswer} />
        </ViewBoundary>
      ) : (
        <TextAnswer label={`Answer to ${instance}`} hint={text} action={action} onSend={sendAnswer} />
      )}
    </div>
  );
}

interface SendProps {
  action: ReturnType<typeof useAction>;
  /** Sends the answer. Resolves with true if the service accepted it. */
  onSend: (answer: Answer) => Promise<boolean>;
}

/** True if a question expects yes or no, such as an approval of a tool call. */
function isYesOrNo(text: string): boolean {
  return text.endsWith('Answer yes or no.');
}

function YesOrNo({ instance, text, action, onSend }: SendProps & { instance: string; text: string }) {
  return (
    <div role="group" aria-label={`Answer to ${instance}`} className="space-y-2">
      {text !== '' && <p className="text-sm break-words whitespace-pre-wrap">{text}</p>}
      <FieldError error={action.error} />
      <p className="flex gap-2">
        <Button kind="primary" disabled={action.pending} onClick={() => void onSend({ text: 'yes' })}>
          Yes
        </Button>
        <Button disabled={action.pending} onClick={() => void onSend({ text: 'no' })}>
          No
        </Button>
      </p>
    </div>
  );
}

function TextAnswer({ label, hint, action, onSend }: SendProps & { label: string; hint: string }) {
  const [text, setText] = useState('');
  const submitText = (event: FormEvent): void => {
    event.preventDefault();
    void onSend({ text }).then((taken) => taken && setText(''));
  };
  return (
    <form onSubmit={submitText} className="space-y-2">
      <Field label={label} hint={hint} error={action.error}>
        {(id) => <TextArea id={id} rows={3} required value={text} onChange={({ target }) => setText(target.value)} />}
      </Field>
      <Button kind="primary" type="submit" disabled={action.pending || text.trim() === ''}>
        Send answer
      </Button>
    </form>
  );
}

interface FormAnswerProps extends SendProps {
  question: RunQuestion;
  form: JsonSchema;
}

function FormAnswer({ question: { instance, text, violations = [] }, form, action, onSend }: FormAnswerProps) {
  const [value, setValue] = useState(() => initialValue(form, form));
  const errorAt = (path: string): string | undefined => {
    const asked = violations.find((it) => getAnswerPath(it) === path);
    const places = [`answer${path}`, `parts[0].data${path}`, path.replace(/^\./, '')];
    return (
      places.map((place) => (place === '' ? undefined : action.errorAt(place))).find((it) => it !== undefined) ??
      (action.error === undefined ? (asked?.description ?? asked?.detail) : undefined)
    );
  };
  const submitForm = (event: FormEvent): void => {
    event.preventDefault();
    void onSend({ data: value ?? {} });
  };
  return (
    <form onSubmit={submitForm} className="space-y-3" aria-label={`Answer to ${instance}`}>
      {text !== '' && <p className="text-sm break-words whitespace-pre-wrap">{text}</p>}
      <SchemaInput schema={form} root={form} label="Answer" value={value} onChange={setValue} errorAt={errorAt} />
      <FieldError error={action.error} />
      <Button kind="primary" type="submit" disabled={action.pending}>
        Send answer
      </Button>
    </form>
  );
}

/** Returns the path of a problem in the answer; `''` is the whole answer. */
function getAnswerPath({ field = '', path = field }: Violation): string {
  return path.replace(/^(answer|parts\[0\]\.data)/, '');
}
