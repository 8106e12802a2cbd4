import type { JobContext, JobHandler, Jobs, Metrics } from '#libs/platform';
import type { RecordedEvent, TaskStore } from '#libs/tasks';
import type { DeliveryStore, DueConfig } from './delivery-store.js';
import type { NotificationSender } from './notification-sender.js';
import { PushDeliveries } from './push-deliveries.js';
import type { AttemptOutcome } from './retry-plan.js';

const TAKEN: AttemptOutcome = { delivered: true, status: 200 };
const BUSY: AttemptOutcome = { delivered: false, status: 503 };
const GONE: AttemptOutcome = { delivered: false, status: 410 };

let told: string[];
let outcomes: AttemptOutcome[];
let config: DueConfig;
let rests: boolean[];
let context: JobContext;
let run: (payload: unknown) => Promise<void>;
let log: number;

beforeEach(() => {
  told = [];
  outcomes = [];
  rests = [true];
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
  run = deliveries();
});

it('sends what lies between the cursor and the end of the log, in order', async () => {
  config.deliveredSequence = 1;
  await run({ pushId: 'p', turn: 1 });
  expect(told).toEqual(['sent 2', 'delivered 2', 'sent 3', 'delivered 3', 'rest']);
});

it('looks again where an event came in the last moment', async () => {
  rests = [false, true];
  log = 0;
  await run({ pushId: 'p', turn: 1 });
  expect(told).toEqual(['rest', 'rest']);
});

it('stops at a failure, and counts failures anew after a success', async () => {
  config.attempts = 18;
  outcomes = [TAKEN, BUSY];
  await run({ pushId: 'p', turn: 1 });
  expect(told.slice(0, 3)).toEqual(['sent 1', 'delivered 1', 'sent 2']);
  expect(told.slice(3)).toEqual([expect.stringMatching(/^failed 2 in (\d{1,3}|1000)$/)]);
});

it('disables a config with its twentieth failure, and at once with 410', async () => {
  config.attempts = 19;
  outcomes = [BUSY];
  await run({ pushId: 'p', turn: 1 });
  outcomes = [GONE];
  config.attempts = 0;
  await run({ pushId: 'p', turn: 1 });
  expect(told).toEqual([
    'sent 1',
    'disabled 1: 20 attempts failed, the last one with 503',
    'sent 1',
    'disabled 1: The receiver answered 410 Gone',
  ]);
});

it('does nothing for a turn that is over', async () => {
  await run({ pushId: 'p', turn: 2 });
  expect(told).toEqual([]);
});

it('counts no failure where the process stops', async () => {
  const stop = new AbortController();
  stop.abort(new Error('stops'));
  context = { ...context, signal: stop.signal };
  await expect(run({ pushId: 'p', turn: 1 })).rejects.toThrow('stops');
  expect(told).toEqual([]);
});

/** The handler of `push.deliver` over fakes that write down what they are asked for. */
function deliveries(): (payload: unknown) => Promise<void> {
  const handlers = new Map<string, JobHandler<unknown>>();
  const jobs = {
    register: (name: string, handler: JobHandler<unknown>) => handlers.set(name, handler),
    every: () => undefined,
  };
  const metrics = { counter: () => ({ inc: () => undefined }) };
  const tasks = {
    events: async (_id: string, after: number) =>
      Array.from(
        { length: Math.max(log - after, 0) },
        (_, index) => ({ sequence: after + index + 1 }) as RecordedEvent,
      ),
  };
  const sender = {
    send: async (_config: DueConfig, { sequence }: RecordedEvent) => {
      told.push(`sent ${sequence}`);
      return outcomes.shift() ?? TAKEN;
    },
  };
  new PushDeliveries(
    jobs as unknown as Jobs,
    metrics as unknown as Metrics,
    fakeStore() as unknown as DeliveryStore,
    tasks as unknown as TaskStore,
    sender as unknown as NotificationSender,
  );
  const handler = handlers.get('push.deliver');
  if (!handler) throw new Error('Nobody does the deliveries');
  return (payload) => handler.run(handler.read(payload), context);
}

function fakeStore(): Partial<DeliveryStore> {
  return {
    due: async (_pushId, turn) => (turn === config.turn ? config : undefined),
    delivered: async (_config, sequence) => {
      told.push(`delivered ${sequence}`);
      return true;
    },
    failed: async (_config, sequence, _outcome, next) => {
      told.push(`failed ${sequence} in ${Math.round(next.getTime() - Date.now())}`);
    },
    disabled: async (_config, sequence, _outcome, reason) => {
      told.push(`disabled ${sequence}: ${reason}`);
    },
    rest: async () => {
      told.push('rest');
      return rests.shift() ?? true;
    },
  };
}
