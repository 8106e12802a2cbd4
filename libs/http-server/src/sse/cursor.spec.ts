import { ProblemError } from '../problem.js';
import { readCursor } from './sse-stream.js';

function pathOf(act: () => unknown): string | undefined {
  try {
    act();
  } catch (error) {
    if (error instanceof ProblemError) return error.errors[0]?.path;
    throw error;
  }
  throw new Error('Expected a refusal');
}

describe('readCursor', () => {
  it('is 0 without one', () => {
    expect(readCursor({}, {}).after).toBe(0);
  });

  it('goes by what the reader saw last rather than by its address', () => {
    expect(readCursor({ 'last-event-id': '9' }, { since: '4' })).toEqual({ after: 9, field: 'Last-Event-ID' });
    expect(readCursor({}, { since: '4' })).toEqual({ after: 4, field: 'since' });
  });

  it.each(['x', '-1', '1.5', '', '9'.repeat(16), ['1', '2']])('refuses since=%j', (since) => {
    expect(pathOf(() => readCursor({}, { since }))).toBe('since');
  });

  it('refuses a malformed Last-Event-ID', () => {
    expect(pathOf(() => readCursor({ 'last-event-id': 'ev-1' }, {}))).toBe('Last-Event-ID');
  });
});
