import { jest } from '@jest/globals';
import { A2AError, runEventMetadata, runEventNote, type RunEventNote, statusUpdate, type Task } from '#libs/protocol';
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

  describe('that lacks run events of a task', () => {
    const step = ({ id, contextId }: Task, number: number, type = 'model.request') =>
      statusUpdate(
        { taskId: id, contextId },
        'TASK_STATE_WORKING',
        '',
        runEventMetadata({ type, payload: { number } }),
      );

    /** Creates a Task at work with three steps and an event of another type among them. */
    async function steppedTask(): Promise<Task> {
      const stream = sent('workflows/hang');
      const { value: first } = await stream.next();
      await stream.return();
      const { task } = first as { task: Task };
      service.record(task.id, step(task, 1));
      service.record(task.id, step(task, 2));
      service.record(task.id, step(task, 0, 'node.progress'));
      service.record(task.id, step(task, 3));
      return task;
    }

    /** Follows a Task as a caller that has recorded some steps, and returns what it reads, up to `most` items. */
    async function followed({ id }: Task, recorded: number, most = Infinity): Promise<unknown[]> {
      const call = callTo('workflows/hang');
      const agent = await service.inProcess.resolveAgent(call);
      const missed = {
        isRecorded: ({ type }: RunEventNote) => type === 'model.request',
        count: () => recorded,
      };
      const read: unknown[] = [];
      try {
        for await (const { response } of service.inProcess.subscribeToTask(agent, { id }, call, { missed })) {
          const note = 'statusUpdate' in response ? runEventNote(response.statusUpdate.metadata) : undefined;
          read.push(note ? note.payload['number'] : Object.keys(response)[0]);
          if (read.length === most) break;
        }
      } catch (error) {
        read.push((error as A2AError).reason);
      }
      return read;
    }

    it.each([
      [0, [1, 2, 3, 'task']],
      [2, [3, 'task']],
      [3, ['task']],
    ])('gets them before the task, in order, if it has %d', async (recorded, expected) => {
      expect(await followed(await steppedTask(), recorded, expected.length)).toEqual(expected);
    });

    it('gets them also where this process executes the task, and each later one once', async () => {
      const task = await steppedTask();
      service.executions.underWay.set(task.id, (await service.store.loadTask(task.id))!);
      service.record(task.id, step(task, 4));
      expect(await followed(task, 1, 4)).toEqual([2, 3, 'task', 4]);
    });

    it('gets them although the task has ended', async () => {
      const task = await steppedTask();
      service.record(task.id, statusUpdate({ taskId: task.id, contextId: task.contextId }, 'TASK_STATE_COMPLETED'));
      expect(await followed(task, 1)).toEqual([2, 3, 'UNSUPPORTED_OPERATION']);
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
