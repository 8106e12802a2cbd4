import { statusUpdate } from '#libs/protocol';
import { stepDone, WorkLog } from './work-log.js';
import { WorkPoints } from './work-points.js';

const TASK = { taskId: 'task', contextId: 'context' };
const sealer = { seal: (secret: string) => secret, open: (sealed: string) => sealed };

/** Creates the steps and questions of an execution whose clock a test sets. */
function pointsAt(
  clock: { now: number },
  log = new WorkLog([], 'answer'),
  prove = async (): Promise<void> => undefined,
) {
  const asked: number[] = [];
  const context = {
    ...TASK,
    flush: async () => undefined,
    assertClaimHeld: async () => {
      asked.push(clock.now);
      await prove();
    },
  };
  const services = { context, log, sealer, signal: new AbortController().signal, emitEvent: async () => undefined };
  return { asked, points: new WorkPoints({ ...services, now: () => clock.now }) };
}

describe('the steps of an execution', () => {
  it('ask whether the Task is still its own where that was not confirmed for a second', async () => {
    const clock = { now: 0 };
    const { points, asked } = pointsAt(clock);
    await points.runStep('a', () => (clock.now += 900));
    clock.now += 900;
    await points.runStep('b', () => 1);
    expect(asked).toEqual([]);
    clock.now += 5_000;
    await points.runStep('c', () => 1);
    await points.runStep('d', () => 1);
    expect(asked).toEqual([6_800]);
  });

  it('are not made where it is not', async () => {
    const clock = { now: 0 };
    const { points } = pointsAt(clock, undefined, () => Promise.reject(new Error('taken over')));
    clock.now = 5_000;
    let made = false;
    await expect(points.runStep('a', () => (made = true))).rejects.toThrow('taken over');
    expect(made).toBe(false);
  });

  it('have the same idempotency key each time, and another in another place', async () => {
    const keys: string[] = [];
    for (let round = 0; round < 2; round += 1) {
      const { points } = pointsAt({ now: 0 });
      for (const key of ['a', 'a', 'b']) await points.runStep(key, (step) => keys.push(step.idempotencyKey));
    }
    expect(keys.slice(3)).toEqual(keys.slice(0, 3));
    expect(new Set(keys).size).toBe(3);
  });

  it('that were recorded under another key of secrets fail the work with a sentence', async () => {
    const log = new WorkLog([statusUpdate(TASK, 'TASK_STATE_WORKING'), stepDone(TASK, 0, 'a', 'not JSON')], 'answer');
    const { points } = pointsAt({ now: 0 }, log);
    await expect(points.runStep('a', () => 1)).rejects.toThrow(
      'the recorded result of the step "a" cannot be decrypted with the keys of this service',
    );
  });
});
