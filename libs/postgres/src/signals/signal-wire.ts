/** What a session tells of. */
export interface WireEvents {
  readonly notified: (channel: string, payload: string | undefined) => void;
  /** The session is gone; told at most once. */
  readonly ended: (error: unknown) => void;
}

/** One session that hears channels. */
export interface WireSession {
  /** Resolves once the fresh channels are heard and the stale ones are not; rejects where the session is of no use. */
  listen(fresh: readonly string[], stale: readonly string[]): Promise<void>;
  /** Never rejects. */
  end(): Promise<void>;
}

/** What carries signals from replica to replica. It may lose them, and need not keep them. */
export interface SignalWire {
  /** Whose it is, for logs and for whoever asks after this replica's health. */
  readonly name: string;
  /** @throws where no session can be had */
  open(events: WireEvents): Promise<WireSession>;
  /** Sends one payload on each of the channels. Rejects where they are not sent. */
  send(channels: readonly string[], payloads: readonly string[]): Promise<unknown>;
  /** Calls the listener when sessions that were opened before may be those of a server that was replaced. */
  onRenewal?(listener: () => void): void;
}
