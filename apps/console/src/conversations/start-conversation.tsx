import type { Schemas } from '#libs/client';
import { useLocation } from 'wouter';
import { callApi } from '../api/http.js';
import { useAction, useAttemptKey } from '../api/use-action.js';
import { AgentInput } from '../components/agent-input.js';
import { Field, Input, TextArea } from '../components/field.js';
import { FormPage } from '../components/form-page.js';
import { readNumber, readText } from '../components/form-values.js';
import { PageHeader } from '../components/page-header.js';

/** Shows the form that starts a conversation. */
export function StartConversation() {
  const action = useAction();
  const [, navigate] = useLocation();
  const keyOf = useAttemptKey();
  const startConversation = async (fields: FormData): Promise<void> => {
    const body = buildConversationBody(fields);
    const headers = { 'idempotency-key': keyOf(body) };
    const { conversationId } = await callApi<Schemas['ConversationId']>('POST', '/api/conversations', {
      body,
      headers,
    });
    navigate(`/${conversationId}`);
  };
  return (
    <>
      <PageHeader title="Start a conversation" up={{ label: 'Conversations', href: '~/conversations' }} />
      <FormPage action={action} submit="Start" onSubmit={(fields) => void action.run(() => startConversation(fields))}>
        <Field
          label="Requester"
          hint="Speaks first and answers the target. Leave empty to send the target a single message."
          error={action.errorAt('requester')}
        >
          {(id) => <AgentInput id={id} name="requester" />}
        </Field>
        <Field label="Target" hint="Answers the requester." error={action.errorAt('target')}>
          {(id) => <AgentInput id={id} name="target" required />}
        </Field>
        <Field label="Message" hint="First message of the requester." error={action.errorAt('message')}>
          {(id) => <TextArea id={id} name="message" rows={4} required />}
        </Field>
        <div className="grid gap-5 sm:grid-cols-2">
          <Field label="Maximum turns" hint="After the first answer; 0 to 20." error={action.errorAt('maxTurns')}>
            {(id) => <Input id={id} name="maxTurns" type="number" min={0} max={20} step={1} placeholder="5" />}
          </Field>
          <Field label="Seconds for one turn" hint="At most 3600, an hour." error={action.errorAt('timeoutMs')}>
            {(id) => <Input id={id} name="seconds" type="number" min={1} max={3600} step={1} placeholder="60" />}
          </Field>
        </div>
        <Field label="Announce to" hint="Agent that receives the last text." error={action.errorAt('announce')}>
          {(id) => <AgentInput id={id} name="announce" />}
        </Field>
      </FormPage>
    </>
  );
}

function buildConversationBody(fields: FormData): object {
  const [requester, announce] = [readText(fields, 'requester'), readText(fields, 'announce')];
  const [maxTurns, seconds] = [readNumber(fields, 'maxTurns'), readNumber(fields, 'seconds')];
  return {
    ...(requester !== undefined && { requester }),
    target: readText(fields, 'target') ?? '',
    message: readText(fields, 'message') ?? '',
    ...(maxTurns !== undefined && { maxTurns }),
    ...(seconds !== undefined && { timeoutMs: seconds * 1000 }),
    ...(announce !== undefined && { announce }),
  };
}
