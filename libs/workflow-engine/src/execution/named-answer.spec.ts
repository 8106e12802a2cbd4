import { type A2AError, type JsonValue, type Task, userMessage } from '#libs/protocol';
import { applyTaskEvent, FoldMemory, type TaskEvent, type TaskHeader } from '#libs/tasks';
import { answering } from '../testing/answering-agents.js';
import { DrivenRun, workflowOf } from '../testing/driven-run.js';
import type { FakeCall } from '../testing/fake-agents.js';
import { RunFolds } from './run-services.js';
import { refuseUnasked } from './workflow-executor.js';

const DEFINITION = workflowOf('a b', '');
const asks = (call: FakeCall): void => call.finish('TASK_STATE_INPUT_REQUIRED', 'What?');

/** Returns the log of a run in which node `a` asks a question and node `b` does not. */
async function askingLog(): Promise<TaskEvent[]> {
  const run = new DrivenRun(DEFINITION, answering({ a: asks }));
  await run.start();
  return run.log;
}

/** Returns the error with which the run rejects a Message that names a node; `undefined` if the run accepts it. */
async function refusalOf(log: readonly TaskEvent[], metadata?: { node: JsonValue }): Promise<A2AError | undefined> {
  const task = log.reduce<Task | undefined>((before, event) => applyTaskEvent(before, event), undefined);
  const { id: taskId = '' } = task ?? {};
  const header = {
    ...{ taskId, tenant: '', owner: '' },
    state: task?.status.state,
    lastSequence: log.length,
  } as TaskHeader;
  const tasks = {
    readHeaders: async () => new Map([[taskId, header]]),
    readEvents: async () => log.map((event, at) => ({ sequence: at + 1, event, json: JSON.stringify(event) })),
  };
  const folds = new RunFolds(tasks as never, new FoldMemory());
  const message = userMessage('yes', { taskId, ...(metadata && { metadata }) });
  return refuseUnasked(message, DEFINITION, { tasks: tasks as never, folds }).then(
    () => undefined,
    (error: unknown) => error as A2AError,
  );
}

describe('a Message to a run that waits', () => {
  it.each<[JsonValue, string]>([
    ['zz', 'must be a node of the run'],
    ['a[3]', 'names a node without an open question'],
    ['b', 'names a node without an open question'],
    ['b[2]', 'names a node without an open question'],
    ['c@1', 'must be a node of the run'],
    [null, 'must be the name of a node'],
  ])('for %j is refused: it %s', async (node, description) => {
    expect(await refusalOf(await askingLog(), { node })).toMatchObject({
      reason: 'INVALID_PARAMS',
      violations: [{ field: 'message.metadata.node', description }],
    });
  });

  it('is taken for the node that asks, and for whichever it is where it names none', async () => {
    expect(await refusalOf(await askingLog(), { node: 'a' })).toBeUndefined();
    expect(await refusalOf(await askingLog())).toBeUndefined();
  });

  it('is not judged here where the run does not wait', async () => {
    const working = (await askingLog()).slice(0, 2);
    expect(await refusalOf(working, { node: 'zz' })).toBeUndefined();
  });
});
