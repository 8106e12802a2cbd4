import { ReconnectPace } from './http-transport.js';

/**
 * Returns the times, in milliseconds from 0 to `until`, at which streams are opened if each stream ends immediately.
 * @param asked pause in milliseconds that the server requests
 * @param requests number of requests that were sent before
 */
function openings({ asked, requests, until }: { asked: number; requests: number; until: number }): number[] {
  let now = 0;
  const pace = new ReconnectPace(() => now);
  for (let it = 0; it < requests; it += 1) pace.noteRequest();
  const opened = [0];
  while ((now += pace.nextPause(asked)) < until) opened.push(now);
  return opened;
}

describe('the pace of streams that end at once', () => {
  test.each([0, -1, NaN, Infinity, 1, 1e99])('is 10 in 20 seconds at most where a server asks for %s ms', (asked) => {
    const opened = openings({ asked, requests: 3, until: 600_000 });
    const busiest = Math.max(...opened.map((from) => opened.filter((it) => it >= from && it < from + 20_000).length));
    expect(busiest).toBeLessThanOrEqual(10);
    expect(opened.length).toBeGreaterThan(9);
  });

  test('grows from one second to ten', () => {
    expect(openings({ asked: 0, requests: 1, until: 40_000 })).toEqual([
      0, 1_000, 3_000, 7_000, 15_000, 25_000, 35_000,
    ]);
  });

  test('lets the streams of many requests at the same time go on as those of one', () => {
    expect(openings({ asked: 0, requests: 20, until: 10_500 }).length).toBe(11);
  });

  test('is quick again after two minutes without a stream that ended', () => {
    let now = 0;
    const pace = new ReconnectPace(() => now);
    for (let it = 0; it < 10; it += 1) pace.nextPause(0);
    expect(pace.nextPause(0)).toBe(10_000);
    now += 120_001;
    expect(pace.nextPause(0)).toBe(1_000);
  });
});
