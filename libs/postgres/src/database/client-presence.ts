import { AsyncLocalStorage } from 'node:async_hooks';

/** Registers a callback for the departure of a request's client; returns false if the client has left already. */
export type WhenGone = (done: () => void) => boolean;

/** Reports a read that may be repeated: it took too long, had no turn in time, or its client left. */
export class ReadEnded extends Error {
  override readonly name: string = 'ReadEnded';
}

/** Reports that the client left before its response was complete. */
export class ClientLeft extends ReadEnded {
  override readonly name = 'ClientLeft';

  constructor() {
    super('The client left before it had its answer');
  }
}

interface Client {
  whenGone: WhenGone;
  /** Created for the first query that needs it. */
  gone?: AbortSignal;
}

const clients = new AsyncLocalStorage<Client>();

/** Executes work for a client: lists and searches within it end when the client leaves (SharedReads). */
export function forClient<T>(whenGone: WhenGone | undefined, work: () => T): T {
  return whenGone ? clients.run({ whenGone }, work) : work();
}

/**
 * Returns a signal that aborts with ClientLeft when the client of the current work leaves; `undefined` outside
 * `forClient`.
 */
export function clientGone(): AbortSignal | undefined {
  const client = clients.getStore();
  if (!client) return undefined;
  client.gone ??= goneSignal(client.whenGone);
  return client.gone;
}

/** Returns a signal that aborts with ClientLeft when a client leaves. */
export function goneSignal(whenGone: WhenGone): AbortSignal {
  const gone = new AbortController();
  if (!whenGone(() => gone.abort(new ClientLeft()))) gone.abort(new ClientLeft());
  return gone.signal;
}
