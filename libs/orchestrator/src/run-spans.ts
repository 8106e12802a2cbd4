import { noteOf, type SpanStep } from '#libs/executor';
import { isJsonObject, type RunEventNote } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';

/**
 * Returns the trace spans that an event of a run's log begins or ends. Model and tool spans come from the logs of the
 * nodes.
 */
export function runSpanSteps(event: TaskEvent): readonly SpanStep[] {
  const note = noteOf(event);
  if (note?.node_id === undefined) return NONE;
  const step = STEPS[note.type]?.(note);
  return step ? [step] : NONE;
}

const NONE: readonly SpanStep[] = [];

const STEPS: Readonly<Record<string, (note: RunEventNote) => SpanStep | undefined>> = {
  'a2a.sending': (note) => {
    const { node_id: node = '', node_type: type = '', payload } = note;
    const { messageId } = payload;
    if (typeof messageId !== 'string') return undefined;
    const attributes = {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': node,
      'parley.node.type': type,
      ...(note.instance !== undefined && { 'parley.node.instance': note.instance }),
    };
    const name = `invoke_agent ${node}`;
    return { begins: { slot: slotOf(note), key: ['call', messageId], name, kind: 'client', attributes } };
  },
  // A question ends the span: the answer is another call.
  'a2a.received': (note) => (note.payload['question'] === undefined ? undefined : { ends: { slot: slotOf(note) } }),
  'node.completed': (note) => ({ ends: { slot: slotOf(note) } }),
  'node.canceled': (note) => ({ ends: { slot: slotOf(note), attributes: { 'parley.canceled': true } } }),
  'node.error': failedStep,
  'node.retrying': failedStep,
};

function failedStep(note: RunEventNote): SpanStep {
  const { failure } = note.payload;
  const kind = isJsonObject(failure) && typeof failure['kind'] === 'string' ? failure['kind'] : 'failed';
  return { ends: { slot: slotOf(note), error: kind } };
}

function slotOf({ node_id: node = '', instance = node }: RunEventNote): string {
  return instance;
}
