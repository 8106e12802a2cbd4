import { type AcceptanceLimit, acceptedInTime } from './execution.js';

const LONG: AcceptanceLimit = { limitMs: 60_000, standsStillMs: () => 0 };

test('a Message that is durable in time is accepted', async () => {
  await expect(acceptedInTime(Promise.resolve(), LONG)).resolves.toBeUndefined();
});

test('a Message that is not durable in time is answered with 503, and its later failure disturbs nothing', async () => {
  const { promise, reject } = Promise.withResolvers<void>();
  const expected = { reason: 'INTERNAL', status: 503, detailReason: 'MESSAGE_NOT_CONFIRMED' };
  await expect(acceptedInTime(promise, { limitMs: 1, standsStillMs: () => 1 })).rejects.toMatchObject(expected);
  reject(new Error('fenced'));
});

test('a Message that is refused before that is refused as it was', async () => {
  const refused = new Error('another replica has the task');
  await expect(acceptedInTime(Promise.reject(refused), LONG)).rejects.toBe(refused);
});

test('a Message waits on while the journal writes others, four times the limit at most', async () => {
  const looks: number[] = [];
  const moving: AcceptanceLimit = { limitMs: 5, standsStillMs: () => looks.push(1) && 0 };
  const expected = { status: 503, detailReason: 'MESSAGE_NOT_CONFIRMED' };
  await expect(acceptedInTime(new Promise(() => undefined), moving)).rejects.toMatchObject(expected);
  expect(looks.length).toBeGreaterThan(0);
});
