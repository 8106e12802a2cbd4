import type { Database } from '#libs/postgres';
import { WebhookThrottle } from './webhook-throttle.js';

it.each([
  [0, ['']],
  [199, ['']],
  [200, ['', 'r199']],
  [450, ['', 'r199', 'r399']],
])('calls for the lanes of %d receivers that wait in statements of two hundred', async (count, expected) => {
  const after: unknown[] = [];
  const query = async (sql: string, values: unknown[] = []) => {
    if (!sql.includes('push_call')) return { rows: [], rowCount: 0 };
    const [, from, limit] = values;
    after.push(from);
    const first = from === '' ? 0 : Number(String(from).slice(1)) + 1;
    const length = Math.min(Number(limit), count - first);
    return { rows: Array.from({ length }, (_, index) => ({ receiver: `r${first + index}` })) };
  };
  await new WebhookThrottle({ pool: { query } } as unknown as Database).revive();
  expect(after).toEqual(expected);
});

it('counts lanes and configs that were lost, also those of an earlier version', async () => {
  const query = async (sql: string) => {
    if (sql.includes('DELETE FROM push_lane')) return { rows: [{ lost: 2 }], rowCount: 1 };
    return { rows: [], rowCount: sql.includes('next_attempt_at') ? 3 : 0 };
  };
  expect(await new WebhookThrottle({ pool: { query } } as unknown as Database).revive()).toBe(5);
});
