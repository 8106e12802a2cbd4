import { AsyncLocalStorage } from 'node:async_hooks';

/** Tells when the client of a request has gone; false where it has already. */
export type WhenGone = (done: () => void) => boolean;

/** A read that may be tried again: it took too long, had no turn in time, or nobody waits for it any more. */
export class ReadEnded extends Error {
  override readonly name: string = 'ReadEnded';
}

/** The client left before it had its answer: nobody reads it. */
export class ClientLeft extends ReadEnded {
  override readonly name = 'ClientLeft';

  constructor() {
    super('The client left before it had its answer');
  }
}

interface Client {
  whenGone: WhenGone;
  /** Made for the first query that asks. */
  gone?: AbortSignal;
}

const clients = new AsyncLocalStorage<Client>();

/** Does some work for a client: lists and searches in it end when the client has gone (SharedReads). */
export function forClient<T>(whenGone: WhenGone | undefined, work: () => T): T {
  return whenGone ? clients.run({ whenGone }, work) : work();
}

/** Aborts with ClientLeft when the client that this work is for has gone; `undefined` where it is for no client. */
export function clientGone(): AbortSignal | undefined {
  const client = clients.getStore();
  if (!client) return undefined;
  client.gone ??= goneSignal(client.whenGone);
  return client.gone;
}

/** Returns a signal that aborts with ClientLeft when a client has gone. */
export function goneSignal(whenGone: WhenGone): AbortSignal {
  const gone = new AbortController();
  if (!whenGone(() => gone.abort(new ClientLeft()))) gone.abort(new ClientLeft());
  return gone.signal;
}
