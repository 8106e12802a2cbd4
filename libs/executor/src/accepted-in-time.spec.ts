import { acceptedInTime } from './accepted-in-time.js';

test('a Message that is durable in time is accepted', async () => {
  await expect(acceptedInTime(Promise.resolve(), 60_000)).resolves.toBeUndefined();
});

test('a Message that is not durable in time is answered with 503, and its later failure disturbs nothing', async () => {
  const { promise, reject } = Promise.withResolvers<void>();
  const expected = { reason: 'INTERNAL', status: 503, detailReason: 'MESSAGE_NOT_CONFIRMED' };
  await expect(acceptedInTime(promise, 1)).rejects.toMatchObject(expected);
  reject(new Error('fenced'));
});

test('a Message that is refused before that is refused as it was', async () => {
  const refused = new Error('another replica has the task');
  await expect(acceptedInTime(Promise.reject(refused), 60_000)).rejects.toBe(refused);
});
