import type { SpanStep } from '#libs/executor';
import { streamEvent } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import { type A2aEvent, turnId } from './a2a-event.js';
import { type CallName, readStep } from './conversation-metadata.js';

/**
 * Returns the span steps of an event of a conversation's log: a call for each turn after the first text, and for the
 * announcement.
 */
export function conversationSpanSteps(event: TaskEvent): readonly SpanStep[] {
  if (!('statusUpdate' in event)) return [];
  const { taskId, metadata } = event.statusUpdate;
  const { call, command, announcement } = readStep(event);
  const emitted = streamEvent(metadata) as unknown as A2aEvent | undefined;
  if (emitted) return command === undefined ? turnSteps(taskId, emitted.data) : [];
  if (announcement !== undefined)
    return [
      beginSpanStep(taskId, 'announce'),
      endSpanStep('announce', announcement === 'failed' ? 'failed' : undefined),
    ];
  return call === undefined ? [] : [beginSpanStep(taskId, call)];
}

function turnSteps(taskId: string, data: A2aEvent['data']): readonly SpanStep[] {
  // The first text comes from the request.
  if (data.phase === 'complete' || data.turn === 0) return [];
  const { turn, fromAgent } = data;
  const error = data.phase === 'error' ? data.code : undefined;
  return [beginSpanStep(taskId, turn), endSpanStep(turn, error, fromAgent)];
}

/** Returns the begin of a call, which is when the preceding event is recorded. */
function beginSpanStep(taskId: string, name: CallName): SpanStep {
  const key = ['call', turnId(taskId, name)];
  const attributes = {
    'gen_ai.operation.name': 'invoke_agent',
    ...(typeof name === 'number' && { 'parley.turn': name }),
  };
  return {
    begins: { slot: String(name), key, name: `invoke_agent ${name}`, kind: 'client', attributes, since: 'before' },
  };
}

function endSpanStep(name: CallName, error?: string, agent?: string): SpanStep {
  const named =
    agent === undefined ? {} : { name: `invoke_agent ${agent}`, attributes: { 'gen_ai.agent.name': agent } };
  return { ends: { slot: String(name), ...named, ...(error !== undefined && { error }) } };
}
