import type { ServedAgent } from '#libs/agents';
import { A2AError, statusUpdate, submittedTask, userMessage } from '#libs/protocol';
import type { RecordedEvent } from '#libs/tasks';
import type { Execution } from './execution.js';
import { IdempotentRequests } from './idempotent-requests.js';

const TASK = { taskId: 't', contextId: 'c' };
const MESSAGE = userMessage('hi', { messageId: 'm' });
const LOG: RecordedEvent[] = [
  { sequence: 1, event: { task: submittedTask(TASK, MESSAGE) } },
  { sequence: 2, event: statusUpdate(TASK, 'TASK_STATE_WORKING') },
  { sequence: 3, event: statusUpdate(TASK, 'TASK_STATE_COMPLETED') },
].map((it) => ({ ...it, createdAt: new Date(0) }) as unknown as RecordedEvent);

/**
 * Prepares the repetition of a request whose turn began with the event `begun` of a log of `bytes` bytes. `known`
 * repeats the request. `done` lists the reads and the reservations of memory, in order.
 */
async function repeating({ begun, bytes, admit }: { begun: number; bytes: number; admit?: () => Promise<void> }) {
  const done: string[] = [];
  const isShort = bytes < 1_000;
  const store = {
    findKeyedRequest: async () => ({ taskId: 't', sequence: begun, fingerprint: await fingerprint() }),
    readLog: async () => ({ header: { size: { log: bytes } }, ...(isShort && { events: LOG }) }),
    readEvents: async (_taskId: string, after: number, limit: number) => {
      done.push(`read ${after + 1} to ${after + limit}`);
      return LOG.slice(after, after + limit);
    },
  };
  const feed = {
    followTask: async function* (_taskId: string, after: number) {
      yield* LOG.slice(after);
    },
  };
  const admission = {
    admitBytes: async (room: number): Promise<void> => {
      done.push(`admit ${room}`);
      await admit?.();
    },
  };
  const requests = new IdempotentRequests(store as never, feed as never, {} as never);
  const call = { scope: { tenant: '', owner: '' }, admission } as never;
  const known = (): Promise<Execution | undefined> =>
    requests.findRepeated({ path: 'a' } as ServedAgent, { message: MESSAGE }, call, 'key');
  return { done, known };
}

async function fingerprint(): Promise<string> {
  const { createHash } = await import('node:crypto');
  return createHash('sha256')
    .update(JSON.stringify({ message: MESSAGE }))
    .digest('base64url');
}

describe('the turn of a request that comes again', () => {
  it('waits for room before its long log is read, for the Task as it began and as it ended', async () => {
    const { done, known } = await repeating({ begun: 2, bytes: 5_000 });
    const execution = (await known())!;
    expect(done).toEqual(['admit 10000', 'read 1 to 2']);
    expect((await execution.settled).status.state).toBe('TASK_STATE_COMPLETED');
    expect(done.slice(2)).toEqual(['admit 5000', 'read 1 to 3']);
  });

  it('reads nothing where there is no room', async () => {
    const admit = async (): Promise<void> => {
      throw new A2AError('INTERNAL', { status: 503, detailReason: 'OVERLOADED' });
    };
    const { done, known } = await repeating({ begun: 2, bytes: 5_000, admit });
    await expect(known()).rejects.toMatchObject({ status: 503 });
    expect(done).toEqual(['admit 10000']);
  });

  it('takes no room for a short log, and none for the Message that made the Task', async () => {
    const short = await repeating({ begun: 2, bytes: 100 });
    await (await short.known())!.settled;
    expect(short.done).toEqual([]);
    const first = await repeating({ begun: 1, bytes: 5_000 });
    await first.known();
    expect(first.done).toEqual(['read 1 to 1']);
  });
});
