import type { Schemas } from '#libs/client';
import { Plus, X } from 'lucide-react';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { callApi } from '../api/http.js';
import { newId } from '../api/new-id.js';
import { useAction, useAttemptKey } from '../api/use-action.js';
import { AgentInput } from '../components/agent-input.js';
import { Button } from '../components/button.js';
import { Field, Input, Select, TextArea } from '../components/field.js';
import { FormPage } from '../components/form-page.js';
import { readNumber, readText } from '../components/form-values.js';
import { PageHeader } from '../components/page-header.js';
import { roleLabel, ROLES } from './brainstorm.js';

/** Minimum number of agents that the service allows. */
const FEWEST = 2;
/** Maximum number of agents that the service allows. */
const MOST = 20;

/** Shows the form that starts a brainstorm. */
export function StartBrainstorm() {
  const action = useAction();
  const [, navigate] = useLocation();
  const [agents, setAgents] = useState(() => [newId(), newId()]);
  const keyOf = useAttemptKey();
  const startBrainstorm = async (fields: FormData): Promise<void> => {
    const body = buildBrainstormBody(fields, agents);
    const headers = { 'idempotency-key': keyOf(body) };
    const { brainstormId } = await callApi<Schemas['BrainstormId']>('POST', '/api/brainstorms', { body, headers });
    navigate(`/${brainstormId}`);
  };
  return (
    <>
      <PageHeader title="Start a brainstorm" up={{ label: 'Brainstorms', href: '~/brainstorms' }} />
      <FormPage action={action} submit="Start" onSubmit={(fields) => void action.run(() => startBrainstorm(fields))}>
        <Field label="Idea" error={action.errorAt('idea')}>
          {(id) => <TextArea id={id} name="idea" rows={3} required />}
        </Field>
        <fieldset className="space-y-3">
          <legend className="text-sm font-medium">Agents</legend>
          {agents.map((agent, index) => (
            <AgentRow
              key={agent}
              name={agent}
              position={index}
              error={action.errorAt(`agents[${index}].agent`) ?? action.errorAt(`agents[${index}]`)}
              {...(agents.length > FEWEST && {
                onRemove: () => setAgents((all) => all.filter((it) => it !== agent)),
              })}
            />
          ))}
          <Button disabled={agents.length >= MOST} onClick={() => setAgents((all) => [...all, newId()])}>
            <Plus className="size-4" aria-hidden /> Add an agent
          </Button>
        </fieldset>
        <Field label="Maximum iterations" hint="1 to 100." error={action.errorAt('maxIterations')}>
          {(id) => <Input id={id} name="maxIterations" type="number" min={1} max={100} step={1} placeholder="10" />}
        </Field>
        <Field
          label="System prompt"
          hint="System prompt of every agent; it replaces Parley's own."
          error={action.errorAt('systemPrompt')}
        >
          {(id) => <TextArea id={id} name="systemPrompt" rows={3} />}
        </Field>
      </FormPage>
    </>
  );
}

interface AgentRowProps {
  name: string;
  position: number;
  error: string | undefined;
  onRemove?: () => void;
}

function AgentRow({ name, position, error, onRemove }: AgentRowProps) {
  return (
    <div className="flex items-start gap-2">
      <div className="min-w-0 grow">
        <AgentInput name={`agent.${name}`} aria-label={`Agent ${position + 1}`} required />
        {error !== undefined && (
          <p role="alert" className="mt-1 text-xs text-destructive">
            {error}
          </p>
        )}
      </div>
      <Select name={`role.${name}`} aria-label={`Role of agent ${position + 1}`} className="w-40!">
        <option value="">by position</option>
        {ROLES.map((role) => (
          <option key={role} value={role}>
            {roleLabel(role)}
          </option>
        ))}
      </Select>
      <Button
        kind="quiet"
        className="px-2!"
        aria-label={`Remove agent ${position + 1}`}
        disabled={onRemove === undefined}
        onClick={onRemove}
      >
        <X className="size-4" aria-hidden />
      </Button>
    </div>
  );
}

function buildBrainstormBody(fields: FormData, agents: readonly string[]): object {
  const maxIterations = readNumber(fields, 'maxIterations');
  const systemPrompt = readText(fields, 'systemPrompt');
  return {
    idea: readText(fields, 'idea') ?? '',
    agents: agents.map((name) => {
      const role = readText(fields, `role.${name}`);
      return { agent: readText(fields, `agent.${name}`) ?? '', ...(role !== undefined && { role }) };
    }),
    ...(maxIterations !== undefined && { maxIterations }),
    ...(systemPrompt !== undefined && { systemPrompt }),
  };
}
