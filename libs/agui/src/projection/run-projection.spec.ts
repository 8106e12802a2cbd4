import { verifyEvents } from '@ag-ui/client';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { from, lastValueFrom, type Observable, toArray } from 'rxjs';
import {
  artifactUpdate,
  type JsonObject,
  runEventMetadata,
  statusUpdate,
  type StreamResponse,
  submittedTask,
  type TaskState,
  textPart,
  userMessage,
} from '#libs/protocol';
import { type TaskEvent, toStreamResponse } from '#libs/tasks';
import { eventsOf, GoldenLogs } from '../../../../test/support/golden-log.js';
import type { AguiEvent } from './agui-event.js';
import { isMessageOfTurn, RunProjection } from './run-projection.js';

const ENGINE = join(import.meta.dirname, '../../../workflow-engine/src/testing/golden');
const GOLDEN = join(import.meta.dirname, '../testing/golden');
const RECORDS = process.env['RECORD_GOLDEN_LOGS'] !== undefined;

const NAME = { threadId: 'c', runId: 'r' };
const TASK = { taskId: 't', contextId: 'c' };

/** Event of a run with the id that it has in the stream. */
type Sent = [id: string, event: AguiEvent];

/** Projects a log for the turn that begins at a sequence. */
function project(log: readonly StreamResponse[], begun = 1, isEarly = false): Sent[] {
  const projection = new RunProjection({ ...NAME, isEarly, begun });
  return log.flatMap((response, index) =>
    projection.projectEvent(index + 1, response).map((event, at): Sent => [`${index + 1}.${at}`, event]),
  );
}

const eventsSent = (log: readonly StreamResponse[], begun?: number, isEarly?: boolean): AguiEvent[] =>
  project(log, begun, isEarly).map(([, event]) => event);

/** Throws if the official client refuses the events in this order. */
async function verify(events: readonly AguiEvent[]): Promise<void> {
  // The client has a version of rxjs of its own.
  const verified = verifyEvents()(from(events) as never) as unknown as Observable<AguiEvent>;
  await lastValueFrom(verified.pipe(toArray()));
}

const begins = (): StreamResponse => ({ task: submittedTask(TASK, userMessage('go')) });
const becomes = (state: TaskState, text?: string): StreamResponse => statusUpdate(TASK, state, text);
const step = (type: string, node: string | undefined, payload: JsonObject = {}, more: JsonObject = {}) =>
  statusUpdate(
    TASK,
    'TASK_STATE_WORKING',
    undefined,
    runEventMetadata({ type, payload, ...(node !== undefined && { node_id: node, node_type: 'agent' }), ...more }),
  );
const piece = (text: string, append: boolean, artifactId = 'a'): StreamResponse =>
  step('node.progress', 'a', { artifact: { artifactId, parts: [{ text }], ...(append && { append }) } });
const completes = (text: string): StreamResponse =>
  step('node.completed', 'a', { status: 'completed', artifacts: [{ artifactId: 'a', parts: [{ text }] }] });
const isText = ({ type }: AguiEvent): boolean => type.startsWith('TEXT_MESSAGE');

/** Messages that the events leave at a client, with their texts. */
function textsOf(events: readonly AguiEvent[]): string[] {
  const texts = new Map<string, string>();
  for (const { messageId, delta } of events.filter(isText)) {
    texts.set(String(messageId), (texts.get(String(messageId)) ?? '') + (typeof delta === 'string' ? delta : ''));
  }
  return [...texts.values()];
}

describe('the text of a node', () => {
  it.each<[string, StreamResponse[], string[]]>([
    ['comes in pieces', [piece('Hel', false), piece('lo', true), completes('Hello')], ['Hello']],
    ['comes at once', [completes('Hello')], ['Hello']],
    ['comes whole each time', [piece('Hel', false), piece('Hello', false), completes('Hello')], ['Hello']],
    ['is longer than what the log had of it', [piece('Hel', false), completes('Hello, Ada')], ['Hello, Ada']],
    ['is another one at the end', [piece('Hel', false), completes('Bye')], ['Hel', 'Bye']],
    ['has another name while it comes', [piece('Hello', false, 'x'), completes('Hello')], ['Hello']],
    ['is begun again after a crash', [piece('Hel', false), piece('By', false), completes('Bye')], ['Hel', 'Bye']],
    ['is empty', [completes('')], []],
  ])('that %s is a message', async (_what, log, texts) => {
    const events = eventsSent([begins(), step('node.started', 'a'), ...log, becomes('TASK_STATE_COMPLETED')]);
    expect(textsOf(events)).toEqual(texts);
    await verify(events);
  });

  it('is not repeated as the result of the run, nor by the last words of an agent', () => {
    const result = artifactUpdate(
      TASK,
      { artifactId: 'out', name: 'out', parts: [textPart('Hello')] },
      { lastChunk: true },
    );
    const { artifactUpdate: update } = result;
    const note = runEventMetadata({ type: 'node.completed', node_id: 'out', node_type: 'output', payload: {} });
    const log = [
      begins(),
      completes('Hello'),
      { artifactUpdate: { ...update, metadata: note } },
      becomes('TASK_STATE_COMPLETED', 'Hello'),
    ];
    expect(textsOf(eventsSent(log))).toEqual(['Hello']);
    expect(eventsSent(log).at(-1)).toMatchObject({ result: { out: 'Hello' } });
  });

  it('of an agent without nodes is that of its Artifacts and its last words', async () => {
    const parts = (text: string, how: { append?: boolean; lastChunk?: boolean }) =>
      artifactUpdate(TASK, { artifactId: 'x', parts: [textPart(text)] }, how);
    const log = [
      begins(),
      becomes('TASK_STATE_WORKING', 'thinking'),
      parts('a', {}),
      parts('b', { append: true, lastChunk: true }),
      becomes('TASK_STATE_COMPLETED', 'done'),
    ];
    const events = eventsSent(log);
    expect(textsOf(events)).toEqual(['ab', 'done']);
    expect(events).toContainEqual(
      expect.objectContaining({
        type: 'ACTIVITY_SNAPSHOT',
        activityType: 'parley.progress',
        content: { text: 'thinking' },
      }),
    );
    await verify(events);
  });
});

describe('tool calls', () => {
  const call = (id: string, n: number) => step('tool.call', 'a', { tool: 'add', id, args: { n }, step: 1 });
  const log = [
    begins(),
    step('node.started', 'a'),
    call('c1', 1),
    step('tool.result', 'a', { tool: 'add', id: 'c1', result: 2 }),
    call('c1', 2),
    step('tool.result', 'a', { tool: 'add', id: 'c1', error: 'too many' }),
    step('tool.result', 'a', { tool: 'add', id: 'unknown', result: 3 }),
    becomes('TASK_STATE_COMPLETED'),
  ];

  it('have ids of their own, although models repeat theirs, and results as texts', async () => {
    const events = eventsSent(log).filter(({ type }) => type.startsWith('TOOL_CALL'));
    expect(events.map(({ type, toolCallId, delta, content }) => [type, toolCallId, delta ?? content])).toEqual([
      ['TOOL_CALL_START', 't.3', undefined],
      ['TOOL_CALL_ARGS', 't.3', '{"n":1}'],
      ['TOOL_CALL_END', 't.3', undefined],
      ['TOOL_CALL_RESULT', 't.3', '2'],
      ['TOOL_CALL_START', 't.5', undefined],
      ['TOOL_CALL_ARGS', 't.5', '{"n":2}'],
      ['TOOL_CALL_END', 't.5', undefined],
      ['TOOL_CALL_RESULT', 't.5', '{"error":"too many"}'],
    ]);
    await verify(eventsSent(log));
  });
});

describe('the tokens of a run', () => {
  it('are summed by model, for the turn alone', () => {
    const answer = (model: string, usage: JsonObject) => step('model.response', 'a', { model, step: 1, usage });
    const log = [
      begins(),
      answer('m', { inputTokens: 9, outputTokens: 9 }),
      becomes('TASK_STATE_INPUT_REQUIRED', 'Which?'),
      becomes('TASK_STATE_WORKING'),
      answer('m', { inputTokens: 1, outputTokens: 2, reasoningTokens: 1 }),
      answer('m', { inputTokens: 3, outputTokens: 4 }),
      answer('n', { inputTokens: 5, outputTokens: 6, cost: '0.1' }),
      becomes('TASK_STATE_COMPLETED'),
    ];
    expect(eventsSent(log, 4).at(-1)?.['usage']).toEqual([
      { model: 'm', inputTokens: 4, outputTokens: 6, reasoningTokens: 1, totalTokens: 10 },
      { model: 'n', inputTokens: 5, outputTokens: 6, totalTokens: 11 },
    ]);
  });
});

describe('questions', () => {
  const asks = (node: string, question: string) => step('input.required', node, { question });
  const waiting = (...questions: JsonObject[]): StreamResponse => {
    const update = statusUpdate(TASK, 'TASK_STATE_INPUT_REQUIRED', 'Which?', { 'parley/waiting': questions });
    return update;
  };
  const form = { type: 'object' };
  const log = [
    begins(),
    step('node.started', 'a'),
    step('node.started', 'b'),
    asks('a', 'Which a?'),
    asks('b', 'Which b?'),
    waiting(
      { instance: 'a', text: 'Which a?', form, deadline: '2026-12-01T00:00:00Z' },
      { instance: 'b', text: 'Which b?' },
    ),
    becomes('TASK_STATE_WORKING'),
    step('a2a.sending', 'a', { taskId: 'ta' }),
    asks('a', 'Which a now?'),
    waiting(
      { instance: 'a', text: 'Which a now?', violations: [{ field: 'a', description: 'must be a string' }] },
      { instance: 'b', text: 'Which b?' },
    ),
  ];
  const interruptsOf = (events: readonly AguiEvent[]) => (events.at(-1)?.['outcome'] as JsonObject)['interrupts'];

  it('end the run as interrupts, with their forms and deadlines', async () => {
    const events = eventsSent(log);
    expect(interruptsOf(events)).toEqual([
      {
        id: 't.4.a',
        reason: 'input_required',
        message: 'Which a?',
        responseSchema: form,
        expiresAt: '2026-12-01T00:00:00Z',
        metadata: { 'parley/node': 'a' },
      },
      { id: 't.5.b', reason: 'input_required', message: 'Which b?', metadata: { 'parley/node': 'b' } },
    ]);
    await verify(events);
  });

  it('keep their ids until they are answered; a rejected answer gives a new one, and says why', async () => {
    const events = eventsSent(log, 7);
    expect(interruptsOf(events)).toEqual([
      expect.objectContaining({ id: 't.5.b' }),
      expect.objectContaining({
        id: 't.9.a',
        message: 'Which a now?\n\nThe previous answer was rejected: a: must be a string',
      }),
    ]);
    expect(events.slice(0, 4).map(({ type, stepName }) => [type, stepName])).toEqual([
      ['RUN_STARTED', undefined],
      ['STATE_DELTA', undefined],
      ['STEP_STARTED', 'a'],
      ['STEP_STARTED', 'b'],
    ]);
    await verify(events);
  });

  it.each([
    ['TASK_STATE_INPUT_REQUIRED', 'input_required'],
    ['TASK_STATE_AUTH_REQUIRED', 'auth_required'],
  ] as const)('of an agent without nodes are one interrupt: %s', (state, reason) => {
    const events = eventsSent([begins(), becomes(state, 'Which?')]);
    expect(interruptsOf(events)).toEqual([{ id: 't.2.', reason, message: 'Which?' }]);
  });
});

describe('the end of a run', () => {
  it.each<[string, StreamResponse, boolean, JsonObject]>([
    [
      'a completed Task',
      becomes('TASK_STATE_COMPLETED'),
      false,
      { type: 'RUN_FINISHED', outcome: { type: 'success' } },
    ],
    [
      'a canceled Task',
      becomes('TASK_STATE_CANCELED'),
      false,
      { type: 'RUN_FINISHED', outcome: { type: 'cancelled' } },
    ],
    [
      'a canceled Task for an early client',
      becomes('TASK_STATE_CANCELED'),
      true,
      { type: 'RUN_ERROR', code: 'cancelled' },
    ],
    [
      'a rejected Task',
      becomes('TASK_STATE_REJECTED', 'no'),
      false,
      { type: 'RUN_ERROR', code: 'rejected', message: 'no' },
    ],
    [
      'a failed Task',
      becomes('TASK_STATE_FAILED'),
      false,
      { type: 'RUN_ERROR', code: 'failed', message: 'The run failed' },
    ],
  ])('of %s says so', async (_what, last, isEarly, event) => {
    const log = [begins(), step('node.started', 'a'), piece('x', false), last];
    const events = eventsSent(log, 1, isEarly);
    expect(events.at(-1)).toMatchObject(event);
    expect(events.at(0)?.['protocolVersion']).toBe(isEarly ? undefined : '1.0');
    await verify(events);
  });

  it('has the kind of the failure as code', () => {
    const failed = step('workflow.failed', undefined, { error: 'node "a": late', failure: { kind: 'timeout' } });
    const events = eventsSent([begins(), failed, becomes('TASK_STATE_FAILED', 'node "a": late')]);
    expect(events.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'timeout', message: 'node "a": late' });
  });
});

describe('ids of messages', () => {
  it.each([
    ['t.7', true],
    ['t.7.2', true],
    ['t.3', false],
    ['u.7', false],
    ['u1', false],
  ])('%s is of the turn: %s', (id, is) => expect(isMessageOfTurn(id, 't', 4)).toBe(is));
});

describe.each(readdirSync(ENGINE).map((it) => it.replace('.jsonl', '')))('the log of the run %s', (name) => {
  const { log } = new GoldenLogs(ENGINE).read(name);
  const events = eventsOf(log) as TaskEvent[];
  const responses = events.map(toStreamResponse);
  const turns = events.flatMap((event, index) => {
    return index === 0 || ('statusUpdate' in event && 'received' in event) ? [index + 1] : [];
  });

  it('gives the events that it gave, in an order that the official client accepts', async () => {
    const sent = turns.map((begun) => project(responses, begun));
    const file = join(GOLDEN, `${name}.json`);
    if (RECORDS) {
      mkdirSync(GOLDEN, { recursive: true });
      writeFileSync(file, `${JSON.stringify(sent)}\n`);
    }
    expect(JSON.parse(JSON.stringify(sent))).toEqual(JSON.parse(readFileSync(file, 'utf8')));
    for (const turn of sent) await verify(turn.map(([, event]) => event));
  });

  it('gives each event an id of its own, in the order of the log', () => {
    for (const begun of turns) {
      const places = project(responses, begun).map(([id]) => id.split('.').map(Number) as [number, number]);
      const sorted = places.toSorted((a, b) => a[0] - b[0] || a[1] - b[1]);
      expect(places).toEqual(sorted);
      expect(new Set(places.map(String)).size).toBe(places.length);
      expect(places[0]?.[0]).toBe(begun);
    }
  });
});
