import { statusUpdate, submittedTask, userMessage } from '#libs/protocol';
import { InFlight, loadConfig, Metrics, Readiness, Shutdown } from '#libs/service';
import { foldEvents, type RecordedEvent, type StoredTask, TaskFeed, TaskRecorder } from '#libs/tasks';
import { ExecutionRegistry } from './execution-registry.js';

const REFERENCE = { taskId: 't', contextId: 'c' };

it('a Task that waits and takes no more events is not said to be written here: its followers ask the store', async () => {
  const [sent, asks] = [userMessage('go'), statusUpdate(REFERENCE, 'TASK_STATE_INPUT_REQUIRED')];
  const log = [{ task: submittedTask(REFERENCE, sent) }, asks].map((event, at) => {
    return { taskId: 't', sequence: at + 1, event } as RecordedEvent;
  });
  const header = {
    ...REFERENCE,
    tenant: '',
    owner: '',
    agent: 'a',
    lastSequence: 2,
    state: asks.statusUpdate.status.state,
  };
  const reads: string[] = [];
  const store = { readEvents: async () => [], readHeader: async (taskId: string) => (reads.push(taskId), header) };
  const feed = new TaskFeed(store as never);
  const [config, metrics] = [loadConfig({}), new Metrics()];
  const recorder = new TaskRecorder({} as never, feed, new InFlight(config, metrics), config);
  const shutdown = new Shutdown(config, new Readiness());
  const registry = new ExecutionRegistry(store as never, recorder, feed, {} as never, shutdown, metrics);
  const stored = { header, task: foldEvents(log)!.toTask(), bytes: config.content.task * 2 } as unknown as StoredTask;
  const turn = { stored, token: 'k', userMessage: sent, task: null, acceptedAt: 1, log: log.map(({ event }) => event) };
  expect(() => registry.recoverTurn({ ...turn, agent: {} as never, call: {} as never })).toThrow('TASK_LIMIT');
  const follower = feed.openFollower('t', 2);
  expect(await follower.readNext()).toEqual([]);
  expect(reads).toEqual(['t']);
  follower.close();
});
