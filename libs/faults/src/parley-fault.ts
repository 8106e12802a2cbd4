/** Kind of a fault. Retries and answers are decided by this kind, never by the text of a message. */
export type FaultKind =
  | 'connect' // no connection
  | 'timeout' // a time limit expired
  | 'interrupted' // the connection broke after the request was sent
  | 'server-error' // HTTP 5xx
  | 'rate-limited' // HTTP 429
  | 'overloaded' // this process has no room for the work
  | 'unavailable' // this service cannot do the work at the moment
  | 'client-error' // HTTP 4xx
  | 'unauthorized' // the other side rejects the credentials, or forbids the call
  | 'credential' // a stored credential is unknown or unusable
  | 'rpc-error' // an error of A2A
  | 'not-found' // no such Task or agent
  | 'invalid-response' // an answer that violates its protocol
  | 'invalid' // a value that violates its format
  | 'expression' // an expression has no value
  | 'too-long' // an answer exceeds the limit of its reader
  | 'refused' // Parley itself refuses: an address, or content beyond a limit
  | 'untrusted-card' // an Agent Card is not signed as required
  | 'changed-card' // an Agent Card has changed and the change is not accepted
  | 'aborted' // the caller ended the work
  | 'failed' // the other side failed
  | 'internal'; // a fault of this service

const TEMPORARY: ReadonlySet<FaultKind> = new Set<FaultKind>([
  'connect',
  'timeout',
  'interrupted',
  'server-error',
  'rate-limited',
  'overloaded',
  'unavailable',
]);

/**
 * Base class of the errors that one library throws and another library handles. Errors that stay in their library
 * extend Error. The members of this class are accessors, so they add no fields to a logged fault.
 */
export abstract class ParleyFault extends Error {
  abstract readonly kind: FaultKind;

  /** True if the same work may succeed later. */
  get retryable(): boolean {
    return TEMPORARY.has(this.kind);
  }

  /** Text for callers, without internals; `undefined` if callers may learn nothing about the fault. */
  get publicMessage(): string | undefined {
    return undefined;
  }
}

/** Fault whose message is written for callers, so that `publicMessage` is the message. */
export abstract class PublicFault extends ParleyFault {
  override get publicMessage(): string {
    return this.message;
  }
}

/** Fault that every protocol reports as status 503, with a specific reason. */
export abstract class UnavailableFault extends PublicFault {
  /** Stable reason in ErrorInfo and Problem bodies, such as `READ_ENDED`. */
  abstract readonly reason: string;

  override get kind(): FaultKind {
    return 'unavailable';
  }
}
