import { isJsonObject, type JsonObject, type RunEventNote, runEventNote } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import type { Attributes, SpanKey, SpanKind } from '#libs/tracing';

/** What an event of a log says of a span below that of its turn. `slot` tells the open spans of a turn apart. */
export type SpanStep = { begins: SpanBegin } | { ends: SpanEnd };

/** One that is open already stays as it is. */
export interface SpanBegin {
  slot: string;
  key: SpanKey;
  name: string;
  kind: SpanKind;
  attributes: Attributes;
  /** It began when the event before this one was recorded. */
  since?: 'before';
}

export interface SpanEnd {
  slot: string;
  /** In the place of the name that it began with. */
  name?: string;
  attributes?: Attributes;
  error?: string;
}

/** The step that an event stands for. */
export function noteOf(event: TaskEvent): RunEventNote | undefined {
  if ('task' in event) return undefined;
  return runEventNote('statusUpdate' in event ? event.statusUpdate.metadata : event.artifactUpdate.metadata);
}

/** The calls of models and tools that an agent's log tells of (GenAI semantic conventions). */
export function agentSteps(event: TaskEvent): readonly SpanStep[] {
  const note = noteOf(event);
  const steps = note && STEPS[note.type];
  return steps ? [steps(note.payload)] : NONE;
}

const NONE: readonly SpanStep[] = [];
const MODEL = 'chat';

const STEPS: Readonly<Record<string, (payload: JsonObject) => SpanStep>> = {
  'model.request': ({ model, step }) => ({
    begins: {
      slot: MODEL,
      key: ['chat', numberOf(step), textOf(model)],
      name: `chat ${textOf(model)}`,
      kind: 'client',
      attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': textOf(model) },
    },
  }),
  'model.response': ({ usage }) => ({ ends: { slot: MODEL, attributes: tokens(usage) } }),
  'model.error': ({ status }) => ({
    ends: { slot: MODEL, error: typeof status === 'number' ? String(status) : 'error' },
  }),
  'tool.call': ({ tool, id }) => ({
    begins: {
      slot: toolSlot(id),
      key: ['tool', textOf(id)],
      name: `execute_tool ${textOf(tool)}`,
      kind: 'internal',
      attributes: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': textOf(tool),
        ...(id !== undefined && { 'gen_ai.tool.call.id': textOf(id) }),
      },
    },
  }),
  'tool.result': ({ id, error }) => ({
    ends: { slot: toolSlot(id), ...(error !== undefined && error !== null && { error: 'tool' }) },
  }),
};

function toolSlot(id: unknown): string {
  return `tool/${textOf(id)}`;
}

function tokens(usage: unknown): Attributes {
  if (!isJsonObject(usage as JsonObject)) return {};
  const { inputTokens, outputTokens } = usage as JsonObject;
  return {
    ...(typeof inputTokens === 'number' && { 'gen_ai.usage.input_tokens': inputTokens }),
    ...(typeof outputTokens === 'number' && { 'gen_ai.usage.output_tokens': outputTokens }),
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
