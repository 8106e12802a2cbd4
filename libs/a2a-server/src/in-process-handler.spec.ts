import { jest } from '@jest/globals';
import { A2AError, statusUpdate, type Task } from '#libs/protocol';
import { ANONYMOUS_SCOPE, type StoredTask } from '#libs/tasks';
import { callTo, type FakeService, fakeService, textRequest } from './testing/fake-service.js';

let service: FakeService;

beforeEach(() => {
  service = fakeService();
});

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

describe('a call in the process', () => {
  const sent = (path: string, call = callTo(path)) => service.inProcess.sendInProcess(textRequest('hi'), call);

  it('tells the task and its events as values', async () => {
    const kinds = (await collect(sent('workflows/echo'))).flatMap((response) => Object.keys(response));
    expect(kinds).toEqual(['task', 'statusUpdate', 'artifactUpdate', 'statusUpdate']);
  });

  it('shows no task that is not durable to a caller that follows the log', async () => {
    const { beginExecution: begin } = service.executions;
    let keep: () => void = () => undefined;
    const kept = new Promise<void>((resolve) => (keep = resolve));
    service.executions.beginExecution = (...args) => {
      const execution = begin.apply(service.executions, args);
      return Object.defineProperty(execution, 'accepted', { value: kept.then(() => execution.begunAs) });
    };
    const stream = sent('workflows/echo');
    const first = stream.next();
    await new Promise((resolve) => setImmediate(resolve));
    await expect(Promise.race([first, Promise.resolve('nothing yet')])).resolves.toBe('nothing yet');
    keep();
    expect((await first).value).toHaveProperty('task');
  });

  it('passes on who calls', async () => {
    let seen: unknown;
    service.executions.beginExecution = (_agent, _request, call) => {
      seen = call;
      throw new A2AError('INTERNAL');
    };
    const call = { ...callTo('workflows/echo'), parent: { taskId: 'run', reference: 'node#1' } };
    await expect(collect(sent('workflows/echo', call))).rejects.toThrow(A2AError);
    expect(seen).toEqual(call);
  });

  it('is told of an unknown agent as HTTP tells it', async () => {
    const unknown = { name: 'A2AError', code: -32001, detailReason: 'AGENT_NOT_FOUND' };
    await expect(collect(sent('workflows/nope'))).rejects.toMatchObject(unknown);
    const call = callTo('workflows/nope');
    const agent = await service.inProcess.resolveAgent(call);
    await expect(service.inProcess.getTask(agent, { id: 't' }, call)).rejects.toMatchObject(unknown);
    await expect(service.inProcess.cancelTask(agent, { id: 't' }, call)).rejects.toMatchObject(unknown);
    await expect(collect(service.inProcess.subscribeToTask(agent, { id: 't' }, call))).rejects.toMatchObject(unknown);
  });

  describe('that follows a task which this process executes', () => {
    /**
     * Creates a Task of an agent that never answers, and registers the Task as executed by this process. Reads of its
     * log are counted from then on.
     */
    async function underWay(scope = ANONYMOUS_SCOPE): Promise<StoredTask> {
      const stream = sent('workflows/hang');
      const { value: first } = await stream.next();
      await stream.return();
      const { id } = (first as { task: Task }).task;
      const stored = (await service.store.loadTask(id))!;
      const standing = { ...stored, header: { ...stored.header, ...scope } };
      service.executions.underWay.set(id, standing);
      service.store.readLog = jest.fn(service.store.readLog.bind(service.store));
      return standing;
    }

    it.each([
      ['is told of it as it stands, and of what follows, without a read', ANONYMOUS_SCOPE, 0],
      ["reads it where it is not the caller's", { tenant: 'another', owner: '' }, 1],
    ])('%s', async (_title, scope, read) => {
      const { header, task } = await underWay(scope);
      const call = callTo('workflows/hang');
      const agent = await service.inProcess.resolveAgent(call);
      const followed = service.inProcess.subscribeToTask(agent, { id: task.id }, call);
      expect((await followed.next()).value).toMatchObject({ response: { task: { id: task.id } } });
      expect(service.store.readLog).toHaveBeenCalledTimes(read);
      service.record(task.id, statusUpdate({ taskId: task.id, contextId: header.contextId }, 'TASK_STATE_COMPLETED'));
      const rest = await collect(followed);
      expect(rest).toHaveLength(1);
    });
  });

  describe('while the database is out of reach', () => {
    const away = Object.assign(new Error('terminating connection due to administrator command'), { code: '57P01' });

    it('waits for its agent, and is made then', async () => {
      const resolve = service.catalog.resolveAgent.bind(service.catalog);
      const asked = jest.spyOn(service.catalog, 'resolveAgent').mockRejectedValueOnce(away).mockImplementation(resolve);
      expect(await collect(sent('workflows/echo'))).toHaveLength(4);
      expect(asked).toHaveBeenCalledTimes(2);
    });

    it('waits for the Task that it follows or reads, and fails nothing', async () => {
      const [first] = await collect(sent('workflows/ask'));
      const { id } = (first as { task: Task }).task;
      const call = callTo('workflows/ask');
      const agent = await service.inProcess.resolveAgent(call);
      const { readHeader: header, loadTask: load } = service.store;
      service.store.readHeader = jest.fn(header.bind(service.store)).mockRejectedValueOnce(away);
      service.store.loadTask = jest.fn(load.bind(service.store)).mockRejectedValueOnce(away);
      const followed = service.inProcess.subscribeToTask(agent, { id }, call)[Symbol.asyncIterator]();
      expect((await followed.next()).value).toMatchObject({ response: { task: { id } } });
      await followed.return?.(undefined);
      service.store.loadTask = jest.fn(load.bind(service.store)).mockRejectedValueOnce(away);
      expect(await service.inProcess.getTask(agent, { id }, call)).toMatchObject({ id });
    });

    it('says so where what it did may have been done', async () => {
      service.executions.beginExecution = () => {
        throw away;
      };
      await expect(collect(sent('workflows/echo'))).rejects.toMatchObject({
        detailReason: 'DATABASE_UNAVAILABLE',
        status: 503,
      });
    });

    it('waits no longer than its caller', async () => {
      const over = new AbortController();
      jest.spyOn(service.catalog, 'resolveAgent').mockImplementation(() => {
        over.abort(new Error('enough'));
        return Promise.reject(away);
      });
      await expect(service.inProcess.resolveAgent(callTo('workflows/echo'), over.signal)).rejects.toThrow('enough');
    });
  });
});
