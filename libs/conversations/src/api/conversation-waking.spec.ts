import type { Processes } from '#libs/durable';
import type { ServiceAddress } from '#libs/http-server';
import type { Jobs } from '#libs/job-queue';
import type { Job, JobHandler } from '#libs/jobs';
import { A2AError } from '#libs/protocol';
import type { TaskStore } from '#libs/tasks';
import { WAKE, type WakePayload } from '../conversation-command.js';
import { ConversationWaking } from './conversation-waking.js';

const CALL = { scope: { tenant: 't', owner: 'o' }, baseUrl: 'http://here' };
const BUSY = new A2AError('INTERNAL', { status: 503, detailReason: 'TASK_BUSY' });
const AWAY = new A2AError('INTERNAL', { status: 503, detailReason: 'DATABASE_UNAVAILABLE' });

/** Paused conversation that counts how often it was woken. */
class Paused {
  readonly enqueued: Job[] = [];
  woken = 0;
  handler: JobHandler<WakePayload> | undefined;
  readonly waking = new ConversationWaking(
    {
      registerHandler: (_name: string, handler: JobHandler<WakePayload>) => (this.handler = handler),
      enqueueJobs: async (jobs: Job[]) => void this.enqueued.push(...jobs),
    } as unknown as Jobs,
    { resumeProcess: async () => this.resume() } as unknown as Processes,
    {
      loadTask: async () => ({ header: { state: 'TASK_STATE_INPUT_REQUIRED' } }),
      readHeader: async () => CALL.scope,
    } as unknown as TaskStore,
    { listAfter: async (_id: string, number: number) => (number < 4 ? [{ number: 4, kind: 'inject' }] : []) } as never,
    { internalUrl: 'http://here' } as ServiceAddress,
  );

  constructor(public failure: A2AError | undefined) {}

  private resume(): boolean {
    if (this.failure) throw this.failure;
    this.woken += 1;
    return true;
  }
}

it('leaves a command to a job where another request holds the conversation', async () => {
  const paused = new Paused(BUSY);
  await paused.waking.wakeFor(4, 'c', CALL);
  const caller = { tenant: 't', owner: 'o' };
  expect(paused.enqueued).toEqual([{ name: WAKE, payload: { conversationId: 'c', command: 3 }, caller }]);
  paused.failure = undefined;
  await paused.handler?.run({ conversationId: 'c', command: 3 }, {} as never);
  expect(paused.woken).toBe(1);
});

it('says what else keeps a conversation from going on', async () => {
  const paused = new Paused(AWAY);
  await expect(paused.waking.wakeFor(4, 'c', CALL)).rejects.toBe(AWAY);
  expect(paused.enqueued).toEqual([]);
});
