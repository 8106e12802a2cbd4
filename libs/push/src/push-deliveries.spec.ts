import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { Job, JobContext, JobHandler, Jobs } from '#libs/jobs';
import type { Metrics } from '#libs/service';
import type { RecordedEvent, TaskStore } from '#libs/tasks';
import type { DeliveryStore } from './delivery-store.js';
import type { DueConfig } from './due-config.js';
import type { NotificationSender } from './notification-sender.js';
import { PushDeliveries } from './push-deliveries.js';
import type { WebhookThrottle } from './webhook-throttle.js';
import type { AttemptOutcome } from './retry-plan.js';

const TAKEN: AttemptOutcome = { delivered: true, status: 200 };
const BUSY: AttemptOutcome = { delivered: false, status: 503 };
const GONE: AttemptOutcome = { delivered: false, status: 410 };
const DOWN: AttemptOutcome = { delivered: false, error: 'connect' };
const JOB = { receiver: 'http://hook.test', holder: 'h' };

let reported: string[];
let outcomes: AttemptOutcome[];
let config: DueConfig;
/** What waits for the receiver, in this order. */
let waiting: DueConfig[];
let entered: boolean;
let leaves: boolean[];
/** What the receiver waits for before it answers. */
let answering: Promise<void>;
/** Told of each notification that the receiver gets, before it answers. */
let onSent: () => void;
let backOffs: boolean[];
let context: JobContext;
let run: (payload: unknown) => Promise<void>;
let redeliver: (payload: unknown) => Promise<void>;
let enqueued: Job[];
let log: number;

afterEach(() => jest.restoreAllMocks());

beforeEach(() => {
  reported = [];
  outcomes = [];
  backOffs = [true];
  leaves = [true];
  answering = Promise.resolve();
  onSent = () => undefined;
  entered = true;
  log = 3;
  context = { signal: new AbortController().signal, attempt: 1, last: false };
  config = {
    pushId: 'p',
    turn: 1,
    taskId: 't',
    configId: 'c',
    sealed: null,
    tenant: '',
    owner: '',
    url: 'http://hook.test/',
    token: null,
    scheme: null,
    credentials: null,
    wireVersion: '1.0',
    deliveredSequence: 0,
    attempts: 0,
  };
  waiting = [config];
  enqueued = [];
  ({ run, redeliver } = deliveries());
});

it('sends what lies between the cursor and the end of the log, in order', async () => {
  config.deliveredSequence = 1;
  await run(JOB);
  expect(reported).toEqual(['sent 2', 'delivered 2', 'sent 3', 'delivered 3', 'rest', 'left']);
});

it('looks again where an event came in the last moment', async () => {
  backOffs = [false, true];
  log = 0;
  await run(JOB);
  expect(reported).toEqual(['rest', 'put back p', 'rest', 'left']);
});

it('looks again where something is being committed as it wants to leave', async () => {
  leaves = [false, true];
  waiting = [];
  await run(JOB);
  expect(reported).toEqual(['left']);
});

it('takes one config after the other, and lets others have their turn after some events', async () => {
  log = 11;
  waiting = [config, { ...config, pushId: 'q', deliveredSequence: 10 }];
  backOffs = [false, true, true];
  await run(JOB);
  expect(reported.filter((it) => !it.startsWith('delivered'))).toEqual([
    ...[1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((sequence) => `sent ${sequence}`),
    'rest',
    'put back p',
    'sent 11',
    'rest',
    'sent 11',
    'rest',
    'left',
  ]);
});

it('stops at a failure, and counts failures anew after a success', async () => {
  config.attempts = 18;
  outcomes = [TAKEN, BUSY];
  await run(JOB);
  expect(reported.slice(0, 3)).toEqual(['sent 1', 'delivered 1', 'sent 2']);
  expect(reported.slice(3)).toEqual([expect.stringMatching(/^failed 2 in (\d{1,3}|1000)$/), 'left']);
});

it('disables a config with its twentieth failure, and at once with 410', async () => {
  config.attempts = 19;
  waiting = [config, { ...config, attempts: 0 }];
  outcomes = [BUSY, GONE];
  await run(JOB);
  expect(reported).toEqual([
    'sent 1',
    'disabled 1: 20 attempts failed, the last one with 503',
    'sent 1',
    'disabled 1: The receiver answered 410 Gone',
    'left',
  ]);
});

it('rests from a receiver that gives no answer, longer each time, and keeps its lane', async () => {
  outcomes = [DOWN];
  await run(JOB);
  expect(reported[1]).toMatch(/^failed 1/);
  expect(reported[2]).toMatch(/^goes on in (9\d\d|1000) after 1$/);
  reported = [];
  outcomes = [DOWN];
  waiting = [config];
  await run({ ...JOB, failures: 4 });
  expect(reported.at(-1)).toMatch(/^goes on in 1(5\d\d\d|6000) after 5$/);
});

it('forgets the failures with any answer', async () => {
  outcomes = [BUSY];
  await run({ ...JOB, failures: 4 });
  expect(reported.at(-1)).toBe('left');
});

it('does nothing where others have all lanes', async () => {
  entered = false;
  await run(JOB);
  expect(reported).toEqual([]);
});

it('works in three lanes at once, and puts a fourth off until one of them has ended', async () => {
  config.deliveredSequence = 2;
  waiting = [config, { ...config, pushId: 'q' }, { ...config, pushId: 'r' }];
  const { promise, resolve } = Promise.withResolvers<void>();
  answering = promise;
  const lanes = ['a', 'b', 'c'].map((holder) => run({ ...JOB, holder }));
  await run({ ...JOB, holder: 'd', failures: 2 });
  expect(reported.filter((it) => !it.startsWith('sent'))).toEqual(['put off d after 2']);
  resolve();
  await Promise.all(lanes);
  reported = [];
  waiting = [config];
  await run({ ...JOB, holder: 'd' });
  expect(reported).toEqual(['sent 3', 'delivered 3', 'rest', 'left']);
});

it('works in a fourth lane as soon as one of three has ended', async () => {
  config.deliveredSequence = 2;
  waiting = ['p', 'q', 'r', 's'].map((pushId) => ({ ...config, pushId }));
  const { promise, resolve } = Promise.withResolvers<void>();
  answering = promise;
  const lanes = ['a', 'b', 'c', 'd'].map((holder) => run({ ...JOB, holder }));
  resolve();
  await Promise.all(lanes);
  expect(reported.filter((it) => it === 'sent 3')).toHaveLength(4);
  expect(reported.filter((it) => it.startsWith('put off'))).toEqual([]);
});

it('has room for others again after a job that failed', async () => {
  const { signal } = context;
  const stop = new AbortController();
  stop.abort(new Error('stops'));
  context = { ...context, signal: stop.signal };
  for (let tries = 0; tries < 4; tries += 1) await expect(run(JOB)).rejects.toThrow('stops');
  context = { ...context, signal };
  await run(JOB);
  expect(reported.at(-1)).toBe('left');
});

it('goes on with others where one cannot be sent by a fault of ours', async () => {
  const broken = { ...config, pushId: 'broken' };
  waiting = [broken, { ...config, deliveredSequence: 2 }];
  await run(JOB);
  expect(reported).toEqual([
    expect.stringMatching(/^put back broken for \d{5}$/),
    'sent 3',
    'delivered 3',
    'rest',
    'left',
  ]);
});

it('is soon at it again where a session with the database was lost', async () => {
  const warn = jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
  const error = jest.spyOn(Logger.prototype, 'error').mockReturnValue();
  waiting = [{ ...config, pushId: 'lost' }];
  await run(JOB);
  expect(reported).toEqual([expect.stringMatching(/^put back lost for (\d{1,3}|1000)$/), 'left']);
  expect([warn.mock.calls.length, error.mock.calls.length]).toEqual([1, 0]);
});

it('counts no failure where the process stops', async () => {
  const stop = new AbortController();
  stop.abort(new Error('stops'));
  context = { ...context, signal: stop.signal };
  await expect(run(JOB)).rejects.toThrow('stops');
  expect(reported).toEqual([]);
});

describe('a notification that is to be sent once more', () => {
  const AGAIN = { pushId: 'p', sequence: 2, receiver: 'http://hook.test', holder: 'r', putOff: 0 };

  it('is sent in a lane of its receiver, which goes on with what waits', async () => {
    config.deliveredSequence = 2;
    await redeliver(AGAIN);
    expect(reported).toEqual(['sent 2', 'repeated 2', 'sent 3', 'delivered 3', 'rest', 'left']);
  });

  it('waits where others have all lanes, longer each time', async () => {
    entered = false;
    await redeliver(AGAIN);
    await redeliver({ ...AGAIN, putOff: 9 });
    expect(reported).toEqual([]);
    expect(enqueued.map(({ name, payload }) => [name, payload.pushId, payload.sequence, payload.putOff])).toEqual([
      ['push.redeliver', 'p', 2, 1],
      ['push.redeliver', 'p', 2, 10],
    ]);
    const [first, later] = enqueued.map(({ runAt }) => (runAt?.getTime() ?? 0) - Date.now());
    expect(first).toBeLessThanOrEqual(2_000);
    expect(later).toBeGreaterThan(20_000);
    // The old job has no part in the lane of the new one, should it be done again.
    expect(enqueued.every(({ payload }) => payload.holder !== AGAIN.holder)).toBe(true);
  });

  it('takes none of the places that are for whatever else is to be done', async () => {
    waiting = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    answering = promise;
    // One too many would wait for the answer as well, and nothing for it.
    onSent = () => reported.length > 3 && resolve();
    const lanes = ['a', 'b', 'c'].map((holder) => redeliver({ ...AGAIN, holder }));
    await redeliver({ ...AGAIN, holder: 'd' });
    expect(reported).toEqual(['sent 2', 'sent 2', 'sent 2']);
    expect(enqueued).toHaveLength(1);
    resolve();
    await Promise.all(lanes);
    await redeliver(AGAIN);
    expect(reported.filter((it) => it === 'repeated 2')).toHaveLength(4);
  });

  it('leaves its lane where its config is gone', async () => {
    waiting = [];
    await redeliver({ ...AGAIN, pushId: 'gone' });
    expect(reported).toEqual(['left']);
  });
});

/** The handlers of `push.serve` and `push.redeliver` over fakes that write down what they are asked for. */
function deliveries(): Record<'run' | 'redeliver', (payload: unknown) => Promise<void>> {
  const handlers = new Map<string, JobHandler<unknown>>();
  const jobs = {
    register: (name: string, handler: JobHandler<unknown>) => handlers.set(name, handler),
    every: () => undefined,
    enqueue: async (added: Job[]) => void enqueued.push(...added),
  };
  const metrics = { counter: () => ({ inc: () => undefined }) };
  const tasks = {
    events: async (_id: string, after: number, limit: number) =>
      Array.from(
        { length: Math.min(Math.max(log - after, 0), limit) },
        (_, index) => ({ sequence: after + index + 1 }) as RecordedEvent,
      ),
  };
  const sender = {
    send: async ({ pushId }: DueConfig, { sequence }: RecordedEvent) => {
      if (pushId === 'broken') throw new Error('a fault of ours');
      if (pushId === 'lost') throw new Error('Client has encountered a connection error and is not queryable');
      reported.push(`sent ${sequence}`);
      onSent();
      await answering;
      return outcomes.shift() ?? TAKEN;
    },
  };
  new PushDeliveries(
    jobs as unknown as Jobs,
    metrics as unknown as Metrics,
    fakeLanes() as unknown as WebhookThrottle,
    fakeStore() as unknown as DeliveryStore,
    tasks as unknown as TaskStore,
    sender as unknown as NotificationSender,
  );
  const handlerOf = (name: string) => async (payload: unknown) => {
    const handler = handlers.get(name);
    if (!handler) throw new Error(`Nobody does ${name}`);
    await handler.run(handler.read(payload), context);
  };
  return { run: handlerOf('push.serve'), redeliver: handlerOf('push.redeliver') };
}

function fakeLanes(): Partial<WebhookThrottle> {
  return {
    enter: async (job) => (entered ? { ...job, number: 0 } : undefined),
    next: async () => waiting.shift(),
    goOn: async ({ failures }, at) => {
      reported.push(`goes on in ${at.getTime() - Date.now()} after ${failures}`);
    },
    putOff: async ({ holder, failures }) => {
      reported.push(`put off ${holder} after ${failures}`);
    },
    leave: async () => {
      const left = leaves.shift() ?? true;
      if (left) reported.push('left');
      return left;
    },
  };
}

function fakeStore(): Partial<DeliveryStore> {
  return {
    delivered: async (_config, sequence) => {
      reported.push(`delivered ${sequence}`);
      return true;
    },
    failed: async (_config, sequence, _outcome, next) => {
      reported.push(`failed ${sequence} in ${Math.round(next.getTime() - Date.now())}`);
    },
    disabled: async (_config, sequence, _outcome, reason) => {
      reported.push(`disabled ${sequence}: ${reason}`);
    },
    putBack: async (given, until) => {
      const pause = until ? ` for ${until.getTime() - Date.now()}` : '';
      reported.push(`put back ${given.pushId}${pause}`);
      if (until === undefined) waiting.push(given);
    },
    config: async (pushId) => (pushId === 'p' ? config : undefined),
    repeated: async (_config, sequence) => {
      reported.push(`repeated ${sequence}`);
    },
    backOff: async () => {
      reported.push('rest');
      return backOffs.shift() ?? true;
    },
  };
}
