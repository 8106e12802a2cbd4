import { isJsonObject, type JsonObject } from '#libs/protocol';
import { noteOf, type TaskEvent } from '#libs/tasks';
import type { Attributes, SpanKey, SpanKind } from '#libs/tracing';

/**
 * Begin or end of a trace span below the span of a turn, derived from one event. `slot` names the place of the span
 * within the turn: at most one span is open in each slot.
 */
export type SpanStep = { begins: SpanBegin } | { ends: SpanEnd };

/**
 * Begin of a span. If a span with the same key is open in the slot, this begin is ignored. If a span with another key
 * is open there, that span ends first.
 */
export interface SpanBegin {
  slot: string;
  key: SpanKey;
  name: string;
  kind: SpanKind;
  attributes: Attributes;
  /** `before`: the span begins at the time of the previous event. Absent: at the time of this event. */
  since?: 'before';
}

export interface SpanEnd {
  slot: string;
  /** Name of the span from its end on; absent: the name from its begin. */
  name?: string;
  attributes?: Attributes;
  error?: string;
}

/**
 * Returns the begins and ends of the trace spans of the model and tool calls that an event of an agent's log reports
 * (GenAI semantic conventions).
 */
export function agentSteps(event: TaskEvent): readonly SpanStep[] {
  const note = noteOf(event);
  const steps = note && STEPS[note.type];
  return steps ? [withContent(steps(note.payload), event)] : NONE;
}

const NONE: readonly SpanStep[] = [];
const MODEL = 'chat';

const STEPS: Readonly<Record<string, (payload: JsonObject) => SpanStep>> = {
  'model.request': ({ model, step }) => ({
    begins: {
      slot: MODEL,
      key: ['chat', numberOf(step), stringOrEmpty(model)],
      name: `chat ${stringOrEmpty(model)}`,
      kind: 'client',
      attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': stringOrEmpty(model) },
    },
  }),
  'model.response': ({ usage }) => ({ ends: { slot: MODEL, attributes: tokenAttributes(usage) } }),
  'model.error': ({ status }) => ({
    ends: { slot: MODEL, error: typeof status === 'number' ? String(status) : 'error' },
  }),
  'tool.call': ({ tool, id }) => ({
    begins: {
      slot: toolSlot(id),
      key: ['tool', stringOrEmpty(id)],
      name: `execute_tool ${stringOrEmpty(tool)}`,
      kind: 'internal',
      attributes: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': stringOrEmpty(tool),
        ...(id !== undefined && { 'gen_ai.tool.call.id': stringOrEmpty(id) }),
      },
    },
  }),
  'tool.result': ({ id, error }) => ({
    ends: { slot: toolSlot(id), ...(error !== undefined && error !== null && { error: 'tool' }) },
  }),
};

/**
 * Adds the content of a model call to the attributes of its span, if the event has such content (`prompt.attributes`).
 * Otherwise returns the step unchanged.
 */
function withContent(step: SpanStep, event: TaskEvent): SpanStep {
  const content = 'statusUpdate' in event ? event.prompt?.attributes : undefined;
  if (!content) return step;
  if ('begins' in step) return { begins: { ...step.begins, attributes: { ...step.begins.attributes, ...content } } };
  return { ends: { ...step.ends, attributes: { ...step.ends.attributes, ...content } } };
}

function toolSlot(id: unknown): string {
  return `tool/${stringOrEmpty(id)}`;
}

function tokenAttributes(usage: unknown): Attributes {
  if (!isJsonObject(usage as JsonObject)) return {};
  const { inputTokens, outputTokens } = usage as JsonObject;
  return {
    ...(typeof inputTokens === 'number' && { 'gen_ai.usage.input_tokens': inputTokens }),
    ...(typeof outputTokens === 'number' && { 'gen_ai.usage.output_tokens': outputTokens }),
  };
}

function stringOrEmpty(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
