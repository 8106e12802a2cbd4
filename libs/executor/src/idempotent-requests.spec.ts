import { EventEmitter } from 'node:events';
import {
  BrainstormEntries,
  CALL_CHAIN,
  CallChains,
  chainMetadata,
  type CallContext,
  ConversationEntries,
  type ServedAgent,
} from '#libs/agents';
import { A2AError, type Message, submittedTask, userMessage } from '#libs/protocol';
import type { Idempotency } from '#libs/tasks';
import type { Execution } from './execution.js';
import { IdempotentRequests } from './idempotent-requests.js';

const OWNER = { tenant: '', owner: '' };

/** Returns the fingerprint of the request with this Message. */
async function fingerprintOf(message: Message): Promise<string | undefined> {
  let once: Idempotency | undefined;
  const begin = (...[, , , given]: [unknown, unknown, unknown, Idempotency]): Execution => {
    once = given;
    return { accepted: Promise.resolve() } as unknown as Execution;
  };
  const requests = new IdempotentRequests(
    {} as never,
    {} as never,
    {
      files: { concernsRequest: () => false },
      beginExecution: begin,
      resumeExecution: begin,
    } as unknown as ConstructorParameters<typeof IdempotentRequests>[2],
  );
  await requests.beginOnce({} as ServedAgent, { message }, {} as never, 'key');
  return once?.fingerprint;
}

/**
 * Sends the same follow-up Message with a file twice under one key. Returns how often files were stored, and the
 * accepted Messages.
 */
async function followedUpTwice(): Promise<{ stored: number; resumed: Message[] }> {
  const message = userMessage([{ raw: 'AAAA' }], { messageId: 'm' });
  const keyed = new Map<string, { taskId: string; sequence: number; fingerprint: string }>();
  const resumed: Message[] = [];
  let stored = 0;
  const requests = new IdempotentRequests(
    {
      findKeyedRequest: async (_scope: unknown, _agent: string, key: string) => keyed.get(key),
      readEvents: async () => [
        { sequence: 1, event: { task: submittedTask({ taskId: 't', contextId: 'c' }, message) } },
      ],
    } as never,
    {} as never,
    {
      files: {
        concernsRequest: () => true,
        keepFiles: async (request: { message: Message }) => {
          stored += 1;
          return { ...request, message: { ...request.message, parts: [{ url: `${stored}` }] } };
        },
      },
      beginExecution: () => undefined,
      resumeExecution: async (...[, , request, , { once }]: [0, 0, { message: Message }, 0, { once: Idempotency }]) => {
        resumed.push(request.message);
        keyed.set(once.key, { taskId: 't', sequence: 1, fingerprint: once.fingerprint });
        return {};
      },
    } as unknown as ConstructorParameters<typeof IdempotentRequests>[2],
  );
  for (let time = 0; time < 2; time += 1)
    await requests.resumeOnce({ path: 'a' } as ServedAgent, 't', { message }, { scope: OWNER } as never, 'key');
  return { stored, resumed };
}

/** Returns the number of attempts to accept a follow-up Message, if the first attempt fails with `failure`. */
async function triesAfter(failure: Error): Promise<number> {
  let tries = 0;
  const requests = new IdempotentRequests(
    {
      findKeyedRequest: async () => undefined,
      readHeader: async () => ({ state: 'TASK_STATE_INPUT_REQUIRED' }),
    } as never,
    {} as never,
    {
      files: { concernsRequest: () => false, keepFiles: async (request: unknown) => request },
      beginExecution: () => undefined,
      resumeExecution: async () => {
        tries += 1;
        if (tries === 1) throw failure;
        return {};
      },
    } as unknown as ConstructorParameters<typeof IdempotentRequests>[2],
  );
  const message = userMessage('hi', { messageId: 'm' });
  await requests
    .resumeOnce({ path: 'a' } as ServedAgent, 't', { message }, { scope: OWNER } as never, 'key')
    .catch(() => undefined);
  return tries;
}

/** Repeats a request with the given call context. Returns the execution that is found; its feed yields no event. */
async function repeatedBy(call: Partial<CallContext>): Promise<Execution> {
  const { message } = FIRST;
  const feed = {
    followTask: async function* (_taskId: string, _after: number, { signal }: { signal?: AbortSignal }) {
      if (!signal?.aborted) await new Promise((resolve) => signal?.addEventListener('abort', resolve));
      yield* [];
    },
  };
  const store = {
    findKeyedRequest: async () => ({ taskId: 't', sequence: 1, fingerprint: await fingerprintOf(message) }),
    readEvents: async () => [{ sequence: 1, event: { task: submittedTask({ taskId: 't', contextId: 'c' }, message) } }],
  };
  const requests = new IdempotentRequests(store as never, feed as never, {} as never);
  return (await requests.findRepeated(
    { path: 'a' } as ServedAgent,
    FIRST,
    { scope: OWNER, ...call } as CallContext,
    'key',
  ))!;
}

const FIRST = { message: userMessage('hi', { messageId: 'm' }) };
const BUSY = new A2AError('INTERNAL', { status: 503, detailReason: 'TASK_BUSY' });
const CHAINS = new CallChains(Buffer.from('a secret'));

describe('a request under an Idempotency-Key', () => {
  it('is known by the Message that was sent, and stores its files once', async () => {
    const { stored, resumed } = await followedUpTwice();
    expect(stored).toBe(1);
    expect(resumed.map(({ parts }) => parts)).toEqual([[{ url: '1' }]]);
  });

  it.each([
    ['is tried again where somebody else is about to write', new A2AError('UNSUPPORTED_OPERATION'), 2],
    ['is tried again where somebody else holds the Task', BUSY, 2],
    ['is tried once where it is too large', new A2AError('INVALID_PARAMS', { status: 413 }), 1],
    ['is tried once where it may be stored later', new A2AError('INTERNAL', { status: 503 }), 1],
  ])('%s', async (_, failure, times) => {
    expect(await triesAfter(failure)).toBe(times);
  });

  it('follows its Task until its client leaves', async () => {
    const client = new EventEmitter();
    const { settled } = await repeatedBy({ whenAnswered: (done) => client.once('close', done) === client });
    client.emit('close');
    await expect(settled).rejects.toThrow('The client left before it had its answer');
  });

  it('follows its Task for no client that has left already', async () => {
    const { settled } = await repeatedBy({ whenAnswered: () => true, whenGone: () => false });
    await expect(settled).rejects.toThrow('The client left before it had its answer');
  });

  const message = userMessage('hi', { messageId: 'm', extensions: ['urn:x'], metadata: { a: 1 } });

  it.each<[string, Message]>([
    [
      'a conversation',
      new ConversationEntries(CHAINS).attachEntry(
        { instructions: '', role: 'target', self: 'a', skip: '' },
        message,
        OWNER,
      ),
    ],
    [
      'a brainstorm',
      new BrainstormEntries(CHAINS).attachEntry({ agent: 'a', output: {}, accepts: {} }, message, OWNER),
    ],
  ])('is the same with and without the entry of %s, which replicas of another version leave out', async (_, signed) => {
    expect(signed).not.toEqual(message);
    expect(await fingerprintOf(signed)).toBe(await fingerprintOf(message));
  });

  it('is the same from another replica, whose link of the call chain has another URL', async () => {
    const sentBy = (replica: string): Message => {
      const link = { task: 'run', caller: 'workflows/w', callee: `${replica}/a2a/agents/a` };
      const metadata = { ...message.metadata, ...chainMetadata(CHAINS.extendChain([], link)) };
      return { ...message, extensions: [...message.extensions!, CALL_CHAIN], metadata };
    };
    const [first, other] = [sentBy('http://127.0.0.1:1'), sentBy('http://127.0.0.1:2')];
    expect(first).not.toEqual(other);
    expect(await fingerprintOf(first)).toBe(await fingerprintOf(other));
  });

  it('is another one with other metadata', async () => {
    expect(await fingerprintOf({ ...message, metadata: { a: 2 } })).not.toBe(await fingerprintOf(message));
  });
});
