/** Events of a session. */
export interface WireEvents {
  readonly notified: (channel: string, payload: string | undefined) => void;
  /** Reports the end of the session, at most once. */
  readonly ended: (error: unknown) => void;
}

/** Session that receives signals on channels. */
export interface WireSession {
  /** Subscribes to the fresh channels and unsubscribes from the stale ones; rejects if the session is unusable. */
  changeChannels(fresh: readonly string[], stale: readonly string[]): Promise<void>;
  /** Ends the session. Never rejects. */
  endSession(): Promise<void>;
}

/** Transport of signals among replicas. It may lose signals, and need not store them. */
export interface SignalWire {
  /** Name of the transport, for logs and health reports. */
  readonly name: string;
  /** Opens a session. @throws if no session can be opened */
  openSession(events: WireEvents): Promise<WireSession>;
  /** Sends one payload on each of the channels. Rejects if they are not sent. */
  sendPayloads(channels: readonly string[], payloads: readonly string[]): Promise<unknown>;
  /** Calls the listener when earlier sessions may lead to a replaced server. */
  onRenewal?(listener: () => void): void;
}
