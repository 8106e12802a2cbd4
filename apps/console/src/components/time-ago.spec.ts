import { formatDuration, timeAgo } from './time-ago.js';

const NOW = Date.parse('2026-11-22T12:00:00Z');

describe('timeAgo', () => {
  it.each([
    [0, 'now'],
    [59_000, '59 seconds ago'],
    [60_000, '1 minute ago'],
    [3 * 3600_000, '3 hours ago'],
    [24 * 3600_000, 'yesterday'],
    [45 * 24 * 3600_000, 'Oct 8, 2026'],
  ])('says %d ms as %s', (span, words) => expect(timeAgo(NOW - span, NOW)).toBe(words));

  it('takes a clock that is ahead for now', () => expect(timeAgo(NOW + 5000, NOW)).toBe('now'));
});

describe('duration', () => {
  it.each([
    [-5, '0 ms'],
    [840, '840 ms'],
    [3299, '3.2 s'],
    [59_999, '59.9 s'],
    [125_000, '2 min 05 s'],
    [3_720_000, '1 h 02 min'],
  ])('says %d as %s', (span, words) => expect(formatDuration(span)).toBe(words));
});
