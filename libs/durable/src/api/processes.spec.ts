import { EventEmitter } from 'node:events';
import { type AgentCatalog, REVISION_KEY } from '#libs/agents';
import type { ExecutionRegistry } from '#libs/executor';
import { A2AError, type SendMessageRequest, submittedTask, type TaskState, userMessage } from '#libs/protocol';
import type { StoredTask, TaskHeader, TaskStore } from '#libs/tasks';
import { endedProcessError, Processes, type ProcessKind } from './processes.js';

const THING: ProcessKind = { noun: 'thing', includes: ({ agent }) => agent === 'things' };
const CALL = { scope: { tenant: 't', owner: 'o' }, baseUrl: 'http://here' };
const CONTEXT = { ...CALL, agent: 'things', extensions: [] };

function thing(state: TaskState = 'TASK_STATE_WORKING', agent = 'things'): StoredTask {
  const reference = { taskId: 'p1', contextId: 'c1' };
  const times = { createdAt: new Date(0), updatedAt: new Date(0) };
  const header = { ...reference, tenant: 't', owner: 'o', agent, state, lastSequence: 1, ...times };
  return { header, task: submittedTask(reference, userMessage('x'), { [REVISION_KEY]: '7' }) };
}

/** Fake service with one process. The calls to the other services are recorded. */
class House {
  asked: unknown[] = [];
  requests: SendMessageRequest[] = [];
  stored = thing();
  refusal: A2AError | undefined;
  known: { taskId: string; accepted: Promise<unknown> } | undefined;
  /** Condition with which an execution was resumed. */
  only: object = {};
  /** Signal that aborts when the caller of a cancel disconnects. */
  gone: AbortSignal | undefined;
  /** Called when a process is canceled or receives a Message. A test throws an error here. */
  answer: () => void = () => undefined;

  readonly processes = new Processes(
    {
      inTenant: (tenant: string) => ({
        resolveAgent: async (path: string, revision?: string) => {
          this.asked.push(['resolve', tenant, path, revision]);
          return { path, executor: { checkRequest: () => this.check() } };
        },
      }),
    } as unknown as AgentCatalog,
    {
      files: { keepFiles: async (request: SendMessageRequest) => request },
      beginExecution: (...asked: unknown[]) => this.begin('begin', asked),
      beginOnce: async (...asked: unknown[]) => this.begin('beginOnce', asked),
      findRepeated: async () => this.known,
      cancelAndWait: async (_agent: object, taskId: string, call: object, gone?: AbortSignal) => {
        this.asked.push(['cancel', taskId, call]);
        this.gone = gone;
        this.answer();
      },
      resumeExecution: async (
        _agent: object,
        taskId: string,
        request: SendMessageRequest,
        call: object,
        only: object,
      ) => {
        this.asked.push(['resume', taskId, request.message.parts, call]);
        this.only = only;
        return { accepted: (async () => this.answer())() };
      },
    } as unknown as ExecutionRegistry,
    {
      readHeader: async (id: string): Promise<TaskHeader | undefined> => (id === 'p1' ? this.stored.header : undefined),
      readEvents: async () => [{ taskId: 'p1', sequence: 1, event: { task: this.stored.task }, json: '' }],
    } as unknown as TaskStore,
  );

  private check(): void {
    this.asked.push(['check']);
    if (this.refusal) throw this.refusal;
  }

  private begin(how: string, [, request, call, key]: unknown[]): object {
    this.requests.push(request as SendMessageRequest);
    this.asked.push([how, call, key]);
    return { taskId: 'p1', accepted: Promise.resolve() };
  }
}

let house: House;

beforeEach(() => {
  house = new House();
});

describe('Processes', () => {
  it('starts one with a Message of its data, once its agent has judged it', async () => {
    expect(await house.processes.startProcess({ agent: 'things', data: { a: 1 } }, CALL)).toBe('p1');
    expect(house.asked).toEqual([['resolve', 't', 'things', undefined], ['check'], ['begin', CONTEXT, undefined]]);
    expect(house.requests).toEqual([
      { message: expect.objectContaining({ parts: [{ data: { a: 1 }, mediaType: 'application/json' }] }) },
    ]);
  });

  it('waits for the end of a canceled one until its caller leaves', async () => {
    const client = new EventEmitter();
    const whenAnswered = (done: () => void): boolean => client.once('close', done) === client;
    await house.processes.cancelProcess(house.stored, { ...CALL, whenAnswered });
    expect(house.gone?.aborted).toBe(false);
    client.emit('close');
    expect(house.gone?.aborted).toBe(true);
  });

  it('makes the same request of the same start under a key', async () => {
    const start = { agent: 'things', data: { a: 1 }, metadata: { b: 2 } };
    await house.processes.startProcess(start, CALL, 'k1');
    await house.processes.startProcess(start, CALL, 'k1');
    expect(house.asked).toContainEqual(['beginOnce', CONTEXT, 'k1']);
    expect(house.requests[0]).toMatchObject({ message: { messageId: 'k1' }, metadata: { b: 2 } });
    expect(house.requests[1]).toEqual(house.requests[0]);
  });

  it('starts nothing that its agent refuses, unless it was accepted under the key before', async () => {
    house.refusal = new A2AError('INVALID_PARAMS');
    const start = { agent: 'things', data: {} };
    await expect(house.processes.startProcess(start, CALL)).rejects.toBe(house.refusal);
    await expect(house.processes.startProcess(start, CALL, 'k1')).rejects.toBe(house.refusal);
    house.known = { taskId: 'before', accepted: Promise.resolve() };
    expect(await house.processes.startProcess(start, CALL, 'k1')).toBe('before');
    expect(house.requests).toEqual([]);
  });

  it('does not ask its agent about what was judged already', async () => {
    house.refusal = new A2AError('UNSUPPORTED_OPERATION');
    expect(await house.processes.startProcess({ agent: 'things', data: {}, check: false }, CALL)).toBe('p1');
  });

  it.each(['nope', '', 'p1\u0000', 'x'.repeat(300)])('finds none under %j', async (id) => {
    const notFound = { status: 404, message: 'thing not found' };
    await expect(house.processes.findHeader(THING, id, CALL.scope)).rejects.toMatchObject(notFound);
    await expect(house.processes.loadBegun(THING, id, CALL.scope)).rejects.toMatchObject(notFound);
  });

  it('finds those of its kind alone, with the Task as it began', async () => {
    expect(await house.processes.loadBegun(THING, 'p1', CALL.scope)).toEqual(house.stored);
    house.stored = thing('TASK_STATE_WORKING', 'others');
    await expect(house.processes.loadBegun(THING, 'p1', CALL.scope)).rejects.toMatchObject({ status: 404 });
  });

  it('cancels one through its agent as that was when it began, or as it is told', async () => {
    await house.processes.cancelProcess(house.stored, CALL);
    await house.processes.cancelProcess(house.stored, CALL, '8');
    expect(house.asked).toEqual([
      ['resolve', 't', 'things', '7'],
      ['cancel', 'p1', CONTEXT],
      ['resolve', 't', 'things', '8'],
      ['cancel', 'p1', CONTEXT],
    ]);
  });

  it('leaves one alone that has ended, also while it was being canceled', async () => {
    await house.processes.cancelProcess(thing('TASK_STATE_COMPLETED'), CALL);
    expect(house.asked).toEqual([]);
    house.answer = () => {
      throw new A2AError('TASK_NOT_CANCELABLE');
    };
    await house.processes.cancelProcess(house.stored, CALL);
    house.answer = () => {
      throw new A2AError('INTERNAL', { status: 503 });
    };
    await expect(house.processes.cancelProcess(house.stored, CALL)).rejects.toMatchObject({ status: 503 });
  });

  it('goes on with one that waits, and says where it did not', async () => {
    expect(await house.processes.resumeProcess(house.stored, userMessage('Go on.'), CALL)).toBe(true);
    expect(house.asked.at(-1)).toEqual(['resume', 'p1', [expect.objectContaining({ text: 'Go on.' })], CONTEXT]);
    house.answer = () => {
      throw new A2AError('UNSUPPORTED_OPERATION');
    };
    expect(await house.processes.resumeProcess(house.stored, userMessage('Go on.'), CALL)).toBe(false);
    house.answer = () => {
      throw new A2AError('TASK_NOT_FOUND');
    };
    await expect(house.processes.resumeProcess(house.stored, userMessage('x'), CALL)).rejects.toThrow(A2AError);
  });

  it('goes on with one only as it was found, where that is asked for', async () => {
    const { lastSequence } = house.stored.header;
    await house.processes.resumeProcess(house.stored, userMessage('yes'), CALL, 'found');
    expect(house.only).toEqual({ after: lastSequence });
    await house.processes.resumeProcess(house.stored, userMessage('Go on.'), CALL);
    expect(house.only).toEqual({});
  });

  it('says what one ended as', () => {
    expect(endedProcessError(THING, 'it is done')).toMatchObject({
      status: 409,
      message: 'the thing has ended: it is done',
    });
  });
});
