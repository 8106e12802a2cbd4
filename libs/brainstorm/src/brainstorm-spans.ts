import { noteOf, type SpanStep } from '#libs/executor';
import type { TaskEvent } from '#libs/tasks';
import type { AgentTurnPlace, BrainstormStepPayloads } from './brainstorm-steps.js';

/** Returns the span steps of an event of a brainstorm's log: the begin or the end of an agent's call. */
export function brainstormSpanSteps(event: TaskEvent): readonly SpanStep[] {
  const note = noteOf(event);
  if (note?.type === 'agent.started') return [startSpanStep(note.payload as unknown as AgentStarted)];
  if (!note || !(note.type in ENDS)) return [];
  const slot = slotOf(note.payload as unknown as AgentTurnPlace);
  const error = ENDS[note.type];
  return [{ ends: { slot, ...(error !== undefined && { error }) } }];
}

type AgentStarted = BrainstormStepPayloads['agent.started'];

/** Errors of the events that end the call of an agent. */
const ENDS: Readonly<Record<string, string | undefined>> = {
  'agent.completed': undefined,
  'agent.rejected': 'rejected',
  'agent.error': 'failed',
};

function startSpanStep(payload: AgentStarted): SpanStep {
  const { agent, role, iteration, messageId } = payload;
  const attributes = {
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': agent,
    'parley.role': role,
    'parley.iteration': iteration,
  };
  const key = ['call', messageId];
  return { begins: { slot: slotOf(payload), key, name: `invoke_agent ${agent}`, kind: 'client', attributes } };
}

function slotOf({ iteration, position }: AgentTurnPlace): string {
  return `${iteration}/${position}`;
}
