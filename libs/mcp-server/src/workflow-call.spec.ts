import { jest } from '@jest/globals';
import type { CallContext } from '#libs/agents';
import { A2AError, invalidParams, type JsonObject, userMessage } from '#libs/protocol';
import { until } from '../../../test/support/until.js';
import { type ClientSupport, McpExchange, SHUTTING_DOWN } from './exchange.js';
import type { Elicitation } from './questions.js';
import { ASKED_AT, FakeRun, RUN_AGENT, RUN_SCOPE } from './testing/fake-run.js';
import { elicitationId, parseElicitationId, WorkflowCall } from './workflow-call.js';

const KEY = `q@${ASKED_AT.getTime().toString(36)}`;
const accepted = { [KEY]: { action: 'accept', content: { answer: 'blue' } } };

interface Called {
  call: WorkflowCall;
  asked: [string, Elicitation][];
  gone: AbortController;
}

function callOf(run: FakeRun, support: ClientSupport = { tasks: false }): Called {
  const gone = new AbortController();
  const context = { scope: RUN_SCOPE, agent: RUN_AGENT.path, extensions: [], baseUrl: '' } satisfies CallContext;
  const exchange = new McpExchange(run.backend, RUN_AGENT, { call: context, signal: gone.signal });
  const asked: [string, Elicitation][] = [];
  const ask = async (id: string, elicitation: Elicitation) => void asked.push([id, elicitation]);
  return {
    call: new WorkflowCall(exchange, RUN_AGENT, {
      support,
      progress: { reportEvent: () => undefined, resumeAt: () => undefined },
      askClient: ask,
    }),
    asked,
    gone,
  };
}

const message = userMessage('hi');
const WORKING = 'TASK_STATE_WORKING';
const ASKS = 'TASK_STATE_INPUT_REQUIRED';
const DONE = 'TASK_STATE_COMPLETED';
const text = (said: string) => ({ content: [{ type: 'text', text: said }] });

afterEach(() => void jest.restoreAllMocks());

describe('a call of a client that knows tasks', () => {
  const tasks = { tasks: true };

  it('is a result where it ends soon', async () => {
    const { call } = callOf(new FakeRun().becomes(WORKING, DONE), tasks);
    expect(await call.beginCall(message)).toMatchObject(text(`It is ${DONE}`));
  });

  it('is a task where it asks', async () => {
    const { call } = callOf(new FakeRun().becomes(WORKING, ASKS), tasks);
    expect(await call.beginCall(message)).toMatchObject({ resultType: 'task', taskId: 't', status: 'input_required' });
  });

  it('is a task where it lasts five seconds', async () => {
    const patience = new AbortController();
    const timeout = jest.spyOn(AbortSignal, 'timeout').mockReturnValue(patience.signal);
    const { call } = callOf(new FakeRun().becomes(WORKING), tasks);
    const result = call.beginCall(message);
    patience.abort();
    expect(await result).toMatchObject({ resultType: 'task', taskId: 't', createdAt: ASKED_AT.toISOString() });
    expect(timeout.mock.calls).toEqual([[5_000]]);
  });

  it('is a task where the service shuts down', async () => {
    const { call, gone } = callOf(new FakeRun().becomes(WORKING), tasks);
    const result = call.beginCall(message);
    gone.abort(SHUTTING_DOWN);
    expect(await result).toMatchObject({ resultType: 'task', taskId: 't' });
  });
});

describe('a call of a client that waits', () => {
  it('waits through questions that it cannot ask', async () => {
    const { call, asked } = callOf(new FakeRun().becomes(WORKING, ASKS, WORKING, DONE));
    expect(await call.beginCall(message)).toMatchObject(text(`It is ${DONE}`));
    expect(asked).toEqual([]);
  });

  it('asks each question once in its stream, under an id that says what is answered', async () => {
    const { call, asked } = callOf(new FakeRun().becomes(ASKS, WORKING, ASKS, DONE), { tasks: false, asks: 'request' });
    await call.beginCall(message);
    const [[id, elicitation] = []] = asked;
    expect(asked).toHaveLength(1);
    expect(parseElicitationId(id)).toEqual({ taskId: 't', key: KEY });
    expect(elicitation).toMatchObject({ method: 'elicitation/create', params: { message: 'Which?' } });
  });

  it('asks by its result, and goes on with the answer', async () => {
    const run = new FakeRun().becomes(ASKS);
    const asks = { tasks: false, asks: 'result' } as const;
    const result = await callOf(run, asks).call.beginCall(message);
    expect(result).toMatchObject({ resultType: 'input_required', requestState: 't', inputRequests: { [KEY]: {} } });
    run.becomes(WORKING, DONE);
    expect(await callOf(run, asks).call.resumeCall('t', accepted)).toMatchObject(text(`It is ${DONE}`));
    expect(run.sent[1]).toMatchObject({ taskId: 't', parts: [{ data: { q: 'blue' } }] });
    expect(await callOf(run, asks).call.resumeCall('t', accepted)).toMatchObject(text(`It is ${DONE}`));
    expect(run.sent).toHaveLength(2);
  });

  it('asks a question whose answers are rejected three times, then ends with the reason', async () => {
    const run = new FakeRun().becomes(ASKS);
    const { call, asked } = callOf(run, { tasks: false, asks: 'request' });
    const result = call.beginCall(message);
    await until(() => asked.length === 1, { what: 'the first question' });
    run.violations = [{ field: 'answer', description: 'must be integer' }];
    run.becomes(WORKING, ASKS, WORKING, ASKS, WORKING, ASKS);
    expect(await result).toMatchObject({
      isError: true,
      content: [
        { text: 'The answer was rejected 3 times (answer: must be integer); the run t still waits for an answer' },
      ],
    });
    expect(asked.map(([, { params }]) => params.message)).toEqual([
      'Which?',
      ...Array.from({ length: 2 }, () => 'Which?\n\nThe previous answer was rejected: answer: must be integer'),
    ]);
  });

  it('asks by its results no more than three times either', async () => {
    const run = Object.assign(new FakeRun().becomes(ASKS), { violations: [{ field: 'a', description: 'is wrong' }] });
    const asks = { tasks: false, asks: 'result' } as const;
    const first = await callOf(run, asks).call.beginCall(message);
    const states = [first];
    for (let round = 0; round < 2; round += 1) {
      const key = Object.keys(states.at(-1)!['inputRequests'] as JsonObject)[0]!;
      run.becomes(WORKING, ASKS);
      const replies = { [key]: { action: 'accept', content: { answer: 'x' } } };
      states.push(await callOf(run, asks).call.resumeCall(states.at(-1)!['requestState'] as string, replies));
    }
    expect(states.map(({ requestState, isError }) => requestState ?? isError)).toEqual(['t~1', 't~2', true]);
  });

  it('counts only rejections in a row: an accepted answer begins a new count in the stream', async () => {
    const run = new FakeRun().becomes(ASKS);
    const { call, asked } = callOf(run, { tasks: false, asks: 'request' });
    const result = call.beginCall(message);
    await until(() => asked.length === 1, { what: 'the first question' });
    const wrong = [{ field: 'answer', description: 'must be integer' }];
    run.violations = wrong;
    run.becomes(WORKING, ASKS, WORKING, ASKS);
    await until(() => asked.length === 3, { what: 'the question after two rejections' });
    Object.assign(run, { violations: undefined, askedAt: new Date(ASKED_AT.getTime() + 1) });
    run.becomes(WORKING, ASKS);
    await until(() => asked.length === 4, { what: 'the next question' });
    run.violations = wrong;
    run.becomes(WORKING, ASKS, WORKING, ASKS, WORKING, DONE);
    expect(await result).toMatchObject(text(`It is ${DONE}`));
    expect(asked).toHaveLength(6);
  });

  it('counts only rejections in a row: an accepted answer begins a new count in results', async () => {
    const run = new FakeRun().becomes(ASKS);
    const violations = [{ field: 'a', description: 'is wrong' }];
    const asks = { tasks: false, asks: 'result' } as const;
    const states = [await callOf(run, asks).call.beginCall(message)];
    for (const next of [violations, violations, undefined, violations]) {
      const last = states.at(-1)!;
      const [key] = Object.keys(last['inputRequests'] as JsonObject) as [string];
      const replies = { [key]: { action: 'accept', content: { answer: 'x' } } };
      const { call } = callOf(run, asks);
      // The reply is for the question before: the run asks the next one only once the reply was sent.
      const resumed = call.resumeCall(last['requestState'] as string, replies);
      await until(() => run.sent.length === states.length + 1, { what: 'the sent reply' });
      run.violations = next;
      run.becomes(WORKING, ASKS);
      states.push(await resumed);
    }
    expect(states.map(({ requestState }) => requestState)).toEqual(['t', 't~1', 't~2', 't', 't~1']);
  });

  it.each<[string, JsonObject, JsonObject]>([
    ['is told that a declined question is still open', { [KEY]: { action: 'decline' } }, { isError: true }],
    ['is asked again where nothing came', {}, { resultType: 'input_required' }],
  ])('%s', async (_what, replies, result) => {
    const run = new FakeRun().becomes(ASKS);
    const asks = { tasks: false, asks: 'result' } as const;
    await callOf(run, asks).call.beginCall(message);
    expect(await callOf(run, asks).call.resumeCall('t', replies)).toMatchObject(result);
    expect(run.sent).toHaveLength(1);
  });

  it('is told which run goes on where the service shuts down, and nothing where it has left', async () => {
    for (const [reason, said] of [
      [SHUTTING_DOWN, 'The service is shutting down; the run t goes on'],
      [undefined, 'The client has left'],
    ] as const) {
      const { call, gone } = callOf(new FakeRun().becomes(WORKING));
      const result = call.beginCall(message);
      gone.abort(reason);
      await expect(result).rejects.toThrow(said);
    }
  });
});

describe('a refusal', () => {
  it('of the arguments is a result, which a model can read', async () => {
    const refusal = invalidParams({ field: 'inputs.topic', description: 'is required' });
    expect(await callOf(new FakeRun(refusal)).call.beginCall(message)).toEqual({
      ...text('inputs.topic: is required'),
      isError: true,
    });
  });

  it('of anything else is an error', async () => {
    const refusal = new A2AError('CONTENT_TYPE_NOT_SUPPORTED', { message: 'no such type' });
    await expect(callOf(new FakeRun(refusal)).call.beginCall(message)).rejects.toMatchObject({
      code: -32602,
      message: 'no such type',
    });
  });
});

describe('the id of a question', () => {
  it.each(['parley:t', 'parley::k', 'other:t:k', 7, undefined, null])('is none of %j', (id) => {
    expect(parseElicitationId(id)).toBeUndefined();
  });

  it('has any key', () =>
    expect(parseElicitationId(elicitationId('t', 'a[1]@2:x'))).toEqual({ taskId: 't', key: 'a[1]@2:x' }));
});
