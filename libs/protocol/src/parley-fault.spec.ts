import { A2AError } from './errors.js';
import { UnfitJson } from './json.js';
import { type FaultKind, ParleyFault } from './parley-fault.js';
import { TaskChangedHands } from './task.js';
import { ContentTooLarge } from './template.js';

class InternalFault extends ParleyFault {
  constructor(private readonly ofKind: FaultKind) {
    super('secret');
  }

  override get kind(): FaultKind {
    return this.ofKind;
  }
}

describe('ParleyFault', () => {
  it.each(['connect', 'timeout', 'interrupted', 'server-error', 'rate-limited', 'overloaded', 'unavailable'] as const)(
    'may be retried if its kind is %s',
    (kind) => {
      expect(new InternalFault(kind).retryable).toBe(true);
    },
  );

  it.each(['client-error', 'refused', 'invalid-response', 'not-found', 'internal'] as const)(
    'is final if its kind is %s',
    (kind) => {
      expect(new InternalFault(kind).retryable).toBe(false);
    },
  );

  it('has no text for callers unless its class says so', () => {
    expect(new InternalFault('internal').publicMessage).toBeUndefined();
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
