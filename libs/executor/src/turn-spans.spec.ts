import { agentSteps, type SpanStep } from '#libs/agents';
import {
  artifactUpdate,
  type JsonObject,
  runEventMetadata,
  statusUpdate,
  submittedTask,
  type TaskState,
  userMessage,
} from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import { spanIdOf, type SpanKey, type TurnTrace } from '#libs/tracing';
import { inboundOf, keptTrace, turnBegin, TurnSpans } from './task-tracing.js';

const TASK = { taskId: 'task-1', contextId: 'context-1' };
const TRACE: TurnTrace = {
  traceId: 'a'.repeat(32),
  sampled: true,
  spanId: 'turn',
  parentSpanId: 'caller',
  state: 'v=1',
  spanIdOf: (...key: SpanKey) => key.join('/'),
  contextBelow: () => ({ traceId: '', spanId: '', sampled: true }),
  headersBelow: () => ({}),
};

/** Returns the events of a log, one second apart. */
function log(...events: TaskEvent[]): TaskEvent[] {
  const at = (index: number): string => new Date(index * 1000).toISOString();
  return events.map((event, index) => {
    if ('task' in event) return { task: { ...event.task, status: { ...event.task.status, timestamp: at(index) } } };
    if ('artifactUpdate' in event) return event;
    const status = { ...event.statusUpdate.status, timestamp: at(index) };
    return { ...event, statusUpdate: { ...event.statusUpdate, status } };
  });
}

const begun: TaskEvent = { task: submittedTask(TASK, userMessage('secret')) };
const status = (state: TaskState): TaskEvent => statusUpdate(TASK, state, 'secret');
const step = (type: string, payload: JsonObject): TaskEvent =>
  statusUpdate(TASK, 'TASK_STATE_WORKING', undefined, runEventMetadata({ type, payload }));
const artifact: TaskEvent = artifactUpdate(TASK, { parts: [{ text: 'secret' }] });

function spansOf(events: readonly TaskEvent[], steps: (event: TaskEvent) => readonly SpanStep[] = agentSteps) {
  const spans = new TurnSpans(TASK, { path: 'workflows/tea/nodes/cup', operation: 'invoke_agent', steps }, TRACE);
  for (const event of events) spans.addEvent(event);
  return spans.finishSpans();
}

const AGENT = log(
  begun,
  step('model.request', { model: 'large', step: 1, prompt: 'secret' }),
  step('model.error', { model: 'large', step: 1, status: 503, message: 'secret' }),
  step('model.request', { model: 'small', step: 1 }),
  step('model.response', { model: 'small', step: 1, usage: { inputTokens: 3, outputTokens: 5 }, output: 'secret' }),
  step('tool.call', { tool: 'shop/buy', id: 'c1', step: 1, args: { what: 'secret' } }),
  step('tool.call', { tool: 'shop/sell', id: 'c2', step: 1 }),
  step('tool.result', { tool: 'shop/buy', id: 'c1', error: 'secret' }),
  step('tool.result', { tool: 'shop/sell', id: 'c2', result: 'secret' }),
  artifact,
  status('TASK_STATE_COMPLETED'),
);

describe('TurnSpans', () => {
  it('tells of an agent’s turn, its models and its tools, and nothing of what was said', () => {
    const spans = spansOf(AGENT);
    expect(spans.map(({ name, begunAt, endedAt, error }) => [name, begunAt, endedAt, error])).toEqual([
      ['invoke_agent tea/cup', 0, 10_000, undefined],
      ['chat large', 1_000, 2_000, '503'],
      ['chat small', 3_000, 4_000, undefined],
      ['execute_tool shop/buy', 5_000, 7_000, 'tool'],
      ['execute_tool shop/sell', 6_000, 8_000, undefined],
    ]);
    expect(spans.map(({ spanId }) => spanId)).toEqual(['turn', 'chat/1/large', 'chat/1/small', 'tool/c1', 'tool/c2']);
    expect(spans.map(({ parentSpanId }) => parentSpanId)).toEqual(['caller', 'turn', 'turn', 'turn', 'turn']);
    expect(spans[0]?.attributes).toMatchObject({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'tea/cup',
      'parley.task.id': 'task-1',
      'parley.task.state': 'completed',
    });
    expect(spans[2]?.attributes).toMatchObject({ 'gen_ai.usage.input_tokens': 3, 'gen_ai.usage.output_tokens': 5 });
    expect(JSON.stringify(spans)).not.toContain('secret');
  });

  it('is the same whether a process or several have made the log', () => {
    // A process that adopts the Task may repeat the last step, because it repeats a call that had no answer.
    for (let index = 1; index < AGENT.length; index += 1) {
      const again = AGENT[index - 1]!;
      const ids = spansOf([...AGENT.slice(0, index), again, ...AGENT.slice(index)]).map(({ spanId }) => spanId);
      expect(new Set(ids)).toEqual(new Set(spansOf(AGENT).map(({ spanId }) => spanId)));
    }
  });

  it('ends with the turn what is still open, and says so unless the Task only waits', () => {
    const open = [begun, step('tool.call', { tool: 't', id: 'x' })];
    const ended = spansOf(log(...open, status('TASK_STATE_CANCELED')));
    expect(ended[1]).toMatchObject({ endedAt: 2_000, attributes: { 'parley.unfinished': true } });
    expect(ended[0]?.error).toBeUndefined();
    const waiting = spansOf(log(...open, status('TASK_STATE_INPUT_REQUIRED')));
    expect(waiting[1]?.attributes).not.toHaveProperty('parley.unfinished');
  });

  it.each([
    ['TASK_STATE_FAILED', 'failed'],
    ['TASK_STATE_REJECTED', 'rejected'],
  ] as const)('is an error after %s', (state, error) => {
    expect(spansOf(log(begun, status(state)))[0]).toMatchObject({ error, attributes: { 'parley.task.state': error } });
  });

  it('keeps five thousand spans, and counts the rest', () => {
    const tool = (id: string) => [step('tool.call', { tool: 't', id }), step('tool.result', { tool: 't', id })];
    const events = Array.from({ length: 5_003 }, (_, index) => tool(String(index))).flat();
    const spans = spansOf([begun, ...events]);
    expect(spans).toHaveLength(5_001);
    expect(spans[0]?.attributes['parley.spans.left_out']).toBe(3);
  });
});

describe('the trace that a Task keeps', () => {
  const context = { traceId: 'b'.repeat(32), spanId: 'c'.repeat(16), sampled: true };
  const written = { traceparent: `00-${'b'.repeat(32)}-${'c'.repeat(16)}-01` };
  const other = { traceparent: `00-${'d'.repeat(32)}-${'c'.repeat(16)}-01`, tracestate: 'x=1' };
  const kept = (trace: Parameters<typeof keptTrace>[1]['trace'], metadata?: JsonObject) =>
    keptTrace({ message: userMessage('x', metadata && { metadata }) }, { trace } as never);

  it('is what the call says, else what the Message does; none where the call cannot be read', () => {
    expect(kept(undefined)).toBeUndefined();
    expect(kept(context)).toEqual(written);
    expect(kept(context, other)).toEqual(written);
    expect(kept(undefined, other)).toEqual(other);
    expect(kept(undefined, { traceparent: 'x' })).toBeUndefined();
    expect(kept(null, other)).toBeUndefined();
  });

  it('is found again at the beginning of a turn', () => {
    expect(inboundOf({ task: submittedTask(TASK, userMessage('x'), written) })).toEqual(context);
    expect(inboundOf(statusUpdate(TASK, 'TASK_STATE_WORKING', undefined, written))).toEqual(context);
    expect(inboundOf(status('TASK_STATE_WORKING'))).toBeUndefined();
    expect(inboundOf(undefined)).toBeUndefined();
  });

  it('belongs to the turn that began after the Task waited last', () => {
    const [works, asks] = [status('TASK_STATE_WORKING'), status('TASK_STATE_INPUT_REQUIRED')];
    expect(turnBegin([begun, works])).toBe(1);
    expect(turnBegin([begun, works, asks, works])).toBe(4);
    expect(turnBegin([begun, asks, works, asks, works, works])).toBe(5);
  });

  it('has spans whose ids follow from the Task and from what they stand for', () => {
    expect(spanIdOf('task-1', ['turn', 1])).toMatch(/^[0-9a-f]{16}$/);
    expect(spanIdOf('task-1', ['turn', 1])).toBe(spanIdOf('task-1', ['turn', 1]));
    const others = [spanIdOf('task-1', ['turn', 2]), spanIdOf('task-2', ['turn', 1]), spanIdOf('task-1', ['call', 1])];
    expect(new Set([...others, spanIdOf('task-1', ['turn', 1])]).size).toBe(4);
  });
});
