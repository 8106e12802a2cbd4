import { setTimeout as delay } from 'node:timers/promises';
import { PacedLook } from './claim-reconciler.js';

test('a look is due at once, and then only after its pause', async () => {
  const look = new PacedLook(60_000);
  expect(look.isDue).toBe(true);
  expect(await look.runLook(async () => 'seen')).toBe('seen');
  expect(look.isDue).toBe(false);
});

test('a look that took long is followed by a longer pause', async () => {
  const look = new PacedLook(1);
  await look.runLook(() => delay(500));
  await delay(100);
  expect(look.isDue).toBe(false);
});

test('a look without a pause is always due', async () => {
  const look = new PacedLook(0);
  await look.runLook(() => delay(50));
  expect(look.isDue).toBe(true);
});

test('a look that failed is due again at once', async () => {
  const look = new PacedLook(60_000);
  await expect(look.runLook(() => Promise.reject(new Error('away')))).rejects.toThrow('away');
  expect(look.isDue).toBe(true);
});
