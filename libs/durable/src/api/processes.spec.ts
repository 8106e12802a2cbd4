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

/** `Processes` with fake services, which store one process. `asked` records the calls to these services. */
class ProcessesFixture {
  asked: unknown[] = [];
  requests: SendMessageRequest[] = [];
  stored = thing();
  refusal: A2AError | undefined;
  known: { taskId: string; accepted: Promise<unknown> } | undefined;
  /** Last argument of the newest call of `resumeExecution`: the condition under which the Message is accepted. */
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

let fixture: ProcessesFixture;

beforeEach(() => {
  fixture = new ProcessesFixture();
});

describe('Processes', () => {
  it('starts one with a Message of its data, once its agent has judged it', async () => {
    expect(await fixture.processes.startProcess({ agent: 'things', data: { a: 1 } }, CALL)).toBe('p1');
    expect(fixture.asked).toEqual([['resolve', 't', 'things', undefined], ['check'], ['begin', CONTEXT, undefined]]);
    expect(fixture.requests).toEqual([
      { message: expect.objectContaining({ parts: [{ data: { a: 1 }, mediaType: 'application/json' }] }) },
    ]);
  });

  it('waits for the end of a canceled one until its caller leaves', async () => {
    const client = new EventEmitter();
    const whenAnswered = (done: () => void): boolean => client.once('close', done) === client;
    await fixture.processes.cancelProcess(fixture.stored, { ...CALL, whenAnswered });
    expect(fixture.gone?.aborted).toBe(false);
    client.emit('close');
    expect(fixture.gone?.aborted).toBe(true);
  });

  it('makes the same request of the same start under a key', async () => {
    const start = { agent: 'things', data: { a: 1 }, metadata: { b: 2 } };
    await fixture.processes.startProcess(start, CALL, 'k1');
    await fixture.processes.startProcess(start, CALL, 'k1');
    expect(fixture.asked).toContainEqual(['beginOnce', CONTEXT, 'k1']);
    expect(fixture.requests[0]).toMatchObject({ message: { messageId: 'k1' }, metadata: { b: 2 } });
    expect(fixture.requests[1]).toEqual(fixture.requests[0]);
  });

  it('starts nothing that its agent refuses, unless it was accepted under the key before', async () => {
    fixture.refusal = new A2AError('INVALID_PARAMS');
    const start = { agent: 'things', data: {} };
    await expect(fixture.processes.startProcess(start, CALL)).rejects.toBe(fixture.refusal);
    await expect(fixture.processes.startProcess(start, CALL, 'k1')).rejects.toBe(fixture.refusal);
    fixture.known = { taskId: 'before', accepted: Promise.resolve() };
    expect(await fixture.processes.startProcess(start, CALL, 'k1')).toBe('before');
    expect(fixture.requests).toEqual([]);
  });

  it('does not ask its agent about what was judged already', async () => {
    fixture.refusal = new A2AError('UNSUPPORTED_OPERATION');
    expect(await fixture.processes.startProcess({ agent: 'things', data: {}, check: false }, CALL)).toBe('p1');
  });

  it.each(['nope', '', 'p1\u0000', 'x'.repeat(300)])('finds none under %j', async (id) => {
    const notFound = { status: 404, message: 'thing not found' };
    await expect(fixture.processes.findHeader(THING, id, CALL.scope)).rejects.toMatchObject(notFound);
    await expect(fixture.processes.loadBegun(THING, id, CALL.scope)).rejects.toMatchObject(notFound);
  });

  it('finds those of its kind alone, with the Task as it began', async () => {
    expect(await fixture.processes.loadBegun(THING, 'p1', CALL.scope)).toEqual(fixture.stored);
    fixture.stored = thing('TASK_STATE_WORKING', 'others');
    await expect(fixture.processes.loadBegun(THING, 'p1', CALL.scope)).rejects.toMatchObject({ status: 404 });
  });

  it('cancels one through its agent as that was when it began, or as it is told', async () => {
    await fixture.processes.cancelProcess(fixture.stored, CALL);
    await fixture.processes.cancelProcess(fixture.stored, CALL, '8');
    expect(fixture.asked).toEqual([
      ['resolve', 't', 'things', '7'],
      ['cancel', 'p1', CONTEXT],
      ['resolve', 't', 'things', '8'],
      ['cancel', 'p1', CONTEXT],
    ]);
  });

  it('leaves one alone that has ended, also while it was being canceled', async () => {
    await fixture.processes.cancelProcess(thing('TASK_STATE_COMPLETED'), CALL);
    expect(fixture.asked).toEqual([]);
    fixture.answer = () => {
      throw new A2AError('TASK_NOT_CANCELABLE');
    };
    await fixture.processes.cancelProcess(fixture.stored, CALL);
    fixture.answer = () => {
      throw new A2AError('INTERNAL', { status: 503 });
    };
    await expect(fixture.processes.cancelProcess(fixture.stored, CALL)).rejects.toMatchObject({ status: 503 });
  });

  it('goes on with one that waits, and says where it did not', async () => {
    expect(await fixture.processes.resumeProcess(fixture.stored, userMessage('Go on.'), CALL)).toBe(true);
    expect(fixture.asked.at(-1)).toEqual(['resume', 'p1', [expect.objectContaining({ text: 'Go on.' })], CONTEXT]);
    fixture.answer = () => {
      throw new A2AError('UNSUPPORTED_OPERATION');
    };
    expect(await fixture.processes.resumeProcess(fixture.stored, userMessage('Go on.'), CALL)).toBe(false);
    fixture.answer = () => {
      throw new A2AError('TASK_NOT_FOUND');
    };
    await expect(fixture.processes.resumeProcess(fixture.stored, userMessage('x'), CALL)).rejects.toThrow(A2AError);
  });

  it('goes on with one only as it was found, where that is asked for', async () => {
    const { lastSequence } = fixture.stored.header;
    await fixture.processes.resumeProcess(fixture.stored, userMessage('yes'), CALL, 'found');
    expect(fixture.only).toEqual({ after: lastSequence });
    await fixture.processes.resumeProcess(fixture.stored, userMessage('Go on.'), CALL);
    expect(fixture.only).toEqual({});
  });

  it('says what one ended as', () => {
    expect(endedProcessError(THING, 'it is done')).toMatchObject({
      status: 409,
      message: 'the thing has ended: it is done',
    });
  });
});
