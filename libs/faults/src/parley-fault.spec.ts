import { type FaultKind, ParleyFault, PublicFault } from './parley-fault.js';

class InternalFault extends ParleyFault {
  constructor(private readonly ofKind: FaultKind) {
    super('secret');
  }

  override get kind(): FaultKind {
    return this.ofKind;
  }
}

class WrittenForCallers extends PublicFault {
  override get kind(): FaultKind {
    return 'refused';
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
    expect(new WrittenForCallers('too long').publicMessage).toBe('too long');
  });
});
