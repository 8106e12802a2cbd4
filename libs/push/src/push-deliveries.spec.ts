import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { Metrics } from '#libs/service';
import type { RecordedEvent, TaskStore } from '#libs/tasks';
import type { DeliveryStore } from './delivery-store.js';
import type { NotificationSender } from './notification-sender.js';
import { PushDeliveries } from './push-deliveries.js';
import type { DueConfig, PushLane, PushQueues } from './push-queues.js';
import type { PushRepeats, TakenRepeat } from './push-repeats.js';
import type { AttemptOutcome } from './retry-plan.js';

const TAKEN: AttemptOutcome = { delivered: true, status: 200 };
const BUSY: AttemptOutcome = { delivered: false, status: 503 };
const GONE: AttemptOutcome = { delivered: false, status: 410 };
const DOWN: AttemptOutcome = { delivered: false, error: 'connect' };
const REFUSED: AttemptOutcome = { delivered: false, error: 'refused' };

let reported: string[];
let outcomes: AttemptOutcome[];
let config: DueConfig;
/** Configs that the fake queue returns as due, in this order. */
let waiting: DueConfig[];
let repeats: TakenRepeat[];
let lane: PushLane;
let backOffs: boolean[];
let log: number;
/** Milliseconds until the receiver answers, by the clock that the lane reads. */
let answerMs: number;
let now: number;

afterEach(() => jest.restoreAllMocks());

beforeEach(() => {
  reported = [];
  outcomes = [];
  backOffs = [true];
  repeats = [];
  log = 3;
  answerMs = 0;
  now = 0;
  jest.spyOn(performance, 'now').mockImplementation(() => now);
  lane = {
    tenant: '',
    owner: '',
    receiver: 'http://hook.test',
    answered: false,
    failures: 0,
    number: 0,
    holder: 'h',
  };
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
});

it('sends what lies between the cursor and the end of the log, in order', async () => {
  config.deliveredSequence = 1;
  await work();
  expect(reported).toEqual(['sent 2', 'delivered 2', 'sent 3', 'delivered 3', 'rest']);
});

it('looks again where an event came in the last moment', async () => {
  backOffs = [false, true];
  log = 0;
  await work();
  expect(reported).toEqual(['rest', 'put back p', 'rest']);
});

it('takes one config after the other, and lets others have their turn after some events', async () => {
  log = 11;
  waiting = [config, { ...config, pushId: 'q', deliveredSequence: 10 }];
  backOffs = [false, true, true];
  await work();
  expect(reported.filter((it) => !it.startsWith('delivered'))).toEqual([
    ...[1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((sequence) => `sent ${sequence}`),
    'rest',
    'put back p',
    'sent 11',
    'rest',
    'sent 11',
    'rest',
  ]);
});

it('stops at a failure, and counts failures anew after a success', async () => {
  config.attempts = 18;
  outcomes = [TAKEN, BUSY];
  await work();
  expect(reported.slice(0, 3)).toEqual(['sent 1', 'delivered 1', 'sent 2']);
  expect(reported.slice(3)).toEqual([expect.stringMatching(/^failed 2 in (\d{1,3}|1000)$/)]);
});

it('disables a config with its twentieth failure, and at once with 410', async () => {
  config.attempts = 19;
  waiting = [config, { ...config, attempts: 0 }];
  outcomes = [BUSY, GONE];
  await work();
  expect(reported).toEqual([
    'sent 1',
    'disabled 1: 20 attempts failed, the last one with 503',
    'sent 1',
    'disabled 1: The receiver answered 410 Gone',
  ]);
});

it('leaves a receiver that gives no answer alone, whatever else waits for it, and counts that', async () => {
  lane.failures = 4;
  lane.answered = true;
  outcomes = [DOWN];
  waiting = [config, { ...config, pushId: 'q' }];
  await work();
  expect(reported).toEqual(['sent 1', expect.stringMatching(/^failed 1/)]);
  expect(lane).toMatchObject({ failures: 5, answered: false });
});

it('forgets the failures of a receiver with any prompt answer', async () => {
  lane.failures = 4;
  outcomes = [BUSY];
  await work();
  expect(lane).toMatchObject({ failures: 0, answered: true });
});

it('counts a receiver whose answer takes long with those that gave none, without a pause', async () => {
  answerMs = 9_000;
  outcomes = [BUSY];
  await work();
  expect(lane).toMatchObject({ failures: 0, answered: false });
});

it('learns nothing of a receiver that was not called', async () => {
  lane.answered = true;
  outcomes = [REFUSED];
  await work();
  expect(lane).toMatchObject({ failures: 0, answered: true });
});

it('goes on with others where one cannot be sent by a fault of ours', async () => {
  waiting = [
    { ...config, pushId: 'broken' },
    { ...config, deliveredSequence: 2 },
  ];
  await work();
  expect(reported).toEqual([expect.stringMatching(/^put back broken for \d{5}$/), 'sent 3', 'delivered 3', 'rest']);
});

it('is soon at it again where a session with the database was lost', async () => {
  const warn = jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
  const error = jest.spyOn(Logger.prototype, 'error').mockReturnValue();
  waiting = [{ ...config, pushId: 'lost' }];
  await work();
  expect(reported).toEqual([expect.stringMatching(/^put back lost for (\d{1,3}|1000)$/)]);
  expect([warn.mock.calls.length, error.mock.calls.length]).toEqual([1, 0]);
});

it('counts no failure where the process stops', async () => {
  await expect(work(AbortSignal.abort(new Error('stops')))).rejects.toThrow('stops');
  expect(reported).toEqual([]);
});

describe('a notification that is to be sent once more', () => {
  it('is sent before what waits, and forgotten then', async () => {
    config.deliveredSequence = 2;
    repeats = [{ number: '1', pushId: 'p', sequence: 2 }];
    await work();
    expect(reported).toEqual(['sent 2', 'repeated 2', 'done 1', 'sent 3', 'delivered 3', 'rest']);
  });

  it('is not tried again where its receiver gives no answer, and what waits has its pause', async () => {
    repeats = ['1', '2'].map((number) => ({ number, pushId: 'p', sequence: 2 }));
    outcomes = [DOWN];
    await work();
    expect(reported).toEqual(['sent 2', 'repeated 2', 'done 1']);
    expect(lane.failures).toBe(1);
  });

  it('is forgotten where its config is gone', async () => {
    waiting = [];
    repeats = [{ number: '1', pushId: 'gone', sequence: 2 }];
    await work();
    expect(reported).toEqual(['done 1']);
  });
});

/** Calls `workLane` of PushDeliveries, whose queue, store and sender are fakes that record their calls. */
function work(signal = new AbortController().signal): Promise<void> {
  const metrics = { counter: () => ({ inc: () => undefined }) };
  const tasks = {
    readEvents: async (_id: string, after: number, limit: number) =>
      Array.from(
        { length: Math.min(Math.max(log - after, 0), limit) },
        (_, index) => ({ sequence: after + index + 1 }) as RecordedEvent,
      ),
  };
  const sender = {
    sendNotification: async ({ pushId }: DueConfig, { sequence }: RecordedEvent) => {
      if (pushId === 'broken') throw new Error('a fault of ours');
      if (pushId === 'lost') throw new Error('Client has encountered a connection error and is not queryable');
      reported.push(`sent ${sequence}`);
      now += answerMs;
      return outcomes.shift() ?? TAKEN;
    },
  };
  const deliveries = new PushDeliveries(
    metrics as unknown as Metrics,
    { takeNextConfig: async () => waiting.shift() } as unknown as PushQueues,
    fakeRepeats() as unknown as PushRepeats,
    fakeStore() as unknown as DeliveryStore,
    tasks as unknown as TaskStore,
    sender as unknown as NotificationSender,
  );
  return deliveries.workLane(lane, 10_000, signal);
}

function fakeRepeats(): Partial<PushRepeats> {
  return {
    takeNextRepeat: async () => repeats.shift(),
    forgetRepeat: async ({ number }) => {
      reported.push(`done ${number}`);
    },
  };
}

function fakeStore(): Partial<DeliveryStore> {
  return {
    recordDelivered: async (_config, sequence) => {
      reported.push(`delivered ${sequence}`);
      return true;
    },
    recordFailed: async (_config, sequence, _outcome, next) => {
      reported.push(`failed ${sequence} in ${Math.round(next.getTime() - Date.now())}`);
    },
    disableConfig: async (_config, sequence, _outcome, reason) => {
      reported.push(`disabled ${sequence}: ${reason}`);
    },
    putBack: async (given, until) => {
      const pause = until ? ` for ${until.getTime() - Date.now()}` : '';
      reported.push(`put back ${given.pushId}${pause}`);
      if (until === undefined) waiting.push(given);
    },
    findConfig: async (pushId) => (pushId === 'p' ? config : undefined),
    recordRepeated: async (_config, sequence) => {
      reported.push(`repeated ${sequence}`);
    },
    backOff: async () => {
      reported.push('rest');
      return backOffs.shift() ?? true;
    },
  };
}
