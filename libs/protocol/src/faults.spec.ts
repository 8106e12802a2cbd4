import { A2AError } from './errors.js';
import { UnfitJson } from './json.js';
import { TaskChangedHands } from './task.js';
import { ContentTooLarge } from './template.js';

describe('a fault of the protocol', () => {
  it('has a text for callers if its class says so', () => {
    expect(new ContentTooLarge('too long').publicMessage).toBe('too long');
    expect(new TaskChangedHands('for the log').publicMessage).toBe(TaskChangedHands.ADVICE);
  });

  it('adds no field to the log line of an error', () => {
    expect(Object.keys(new UnfitJson('deep', '', 'detail')).toSorted()).toEqual(['detail', 'name', 'path', 'reason']);
  });

  it('may be retried as an A2AError if its status is temporary', () => {
    const statuses = [400, 404, 429, 500, 503];
    expect(statuses.filter((status) => new A2AError('INTERNAL', { status }).retryable)).toEqual([429, 503]);
  });
});
