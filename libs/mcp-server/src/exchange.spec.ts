import type { CallContext } from '#libs/agents';
import { A2AError, type TaskState } from '#libs/protocol';
import { McpExchange, SHUTTING_DOWN } from './exchange.js';
import { ASKED_AT, FakeRun, RUN_AGENT, RUN_SCOPE } from './testing/fake-run.js';

const KEY = `q@${ASKED_AT.getTime().toString(36)}`;
const accepted = { [KEY]: { action: 'accept', content: { answer: 'blue' } } };
const WORKING = 'TASK_STATE_WORKING';
const ASKS = 'TASK_STATE_INPUT_REQUIRED';
const answers = [expect.objectContaining({ taskId: 't', parts: [expect.objectContaining({ data: { q: 'blue' } })] })];

function runThat(state: TaskState): FakeRun {
  return Object.assign(new FakeRun(), { state });
}

async function answer(
  run: FakeRun,
  replies: Record<string, unknown>,
  { gone, patience }: { gone?: AbortSignal; patience?: AbortSignal } = {},
): Promise<void> {
  const call = { scope: RUN_SCOPE, agent: RUN_AGENT.path, extensions: [], baseUrl: '' } satisfies CallContext;
  const never = new AbortController().signal;
  const exchange = new McpExchange(run.backend, RUN_AGENT, { call, signal: gone ?? never });
  await exchange.answerTask(await exchange.loadTask('t'), replies, patience);
}

describe('an answer', () => {
  it('is given to a run that waits', async () => {
    const run = runThat(ASKS);
    await answer(run, accepted);
    expect(run.sent).toEqual(answers);
  });

  it('that comes while another one is worked on is kept until the run waits again', async () => {
    const run = runThat(WORKING);
    const given = answer(run, accepted);
    run.becomes(WORKING, ASKS);
    await given;
    expect(run.sent).toEqual(answers);
  });

  it('that another one has come before is given again when the run waits again', async () => {
    const run = runThat(ASKS);
    run.refusals.push(new A2AError('UNSUPPORTED_OPERATION', { message: 'The task is being worked on' }));
    const given = answer(run, accepted);
    run.becomes(WORKING, ASKS);
    await given;
    expect(run.sent).toEqual(answers);
  });

  it('that another one has come before while it was read is kept until the run waits again', async () => {
    const run = Object.assign(runThat(ASKS), { goesOn: true });
    const given = answer(run, accepted);
    run.becomes(ASKS);
    await given;
    expect(run.sent).toEqual(answers);
  });

  it('is told what else it is refused for', async () => {
    const run = runThat(ASKS);
    const refusal = new A2AError('INVALID_PARAMS', { message: 'no' });
    run.refusals.push(refusal);
    await expect(answer(run, accepted)).rejects.toBe(refusal);
  });

  it('is left out where the run has ended, or asks something else then', async () => {
    const ending = runThat(WORKING);
    const given = answer(ending, accepted);
    ending.becomes('TASK_STATE_COMPLETED');
    await given;
    const asking = runThat(ASKS);
    await answer(asking, { 'other@1': accepted[KEY] });
    expect([ending.sent, asking.sent]).toEqual([[], []]);
  });

  it.each([
    ['is none', {}],
    ['is declined', { [KEY]: { action: 'decline' } }],
  ])('that %s waits for nothing', async (_what, replies) => {
    const run = runThat(WORKING);
    await answer(run, replies);
    expect(run.sent).toEqual([]);
  });

  it.each([
    ['the patience is over', { patience: AbortSignal.abort() }, 409, 'at work; it takes answers when it waits again'],
    ['the process shuts down', { gone: AbortSignal.abort(SHUTTING_DOWN) }, 503, 'shutting down; the run t goes on'],
    ['the client has left', { gone: AbortSignal.abort() }, 499, 'has left'],
  ])('is refused where the run still works when %s', async (_what, ends, status, message) => {
    const run = runThat(WORKING);
    await expect(answer(run, accepted, ends)).rejects.toMatchObject({
      status,
      message: expect.stringContaining(message) as string,
    });
    expect(run.sent).toEqual([]);
  });
});
