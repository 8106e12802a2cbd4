/** Milliseconds without a byte after which the server is asked about a session that waits for an answer. */
const SILENCE_MS = 4_000;
/** Milliseconds between the two answers that confirm the loss of a session. */
const CONFIRM_MS = 1_500;
/** Maximum milliseconds between two questions about an executing statement. The pause grows with its silence. */
const LONGEST_PAUSE_MS = 10_000;
const ROUND_MS = 500;
/**
 * Throughput of a slow network, in bytes per millisecond. A server reports a session as idle while it receives a
 * statement, part of which is hidden in socket buffers on the way.
 */
const SLOW_BYTES_PER_MS = 256;
const MOST_HIDDEN_BYTES = 8 * 1024 ** 2;

/** Session as its watch needs it. */
export interface WatchedSession {
  /** Unique part of the session's name. */
  readonly tag: string;
  /** Returns the progress of the session; `undefined` if it waits for no answer. */
  progress(): SessionProgress | undefined;
  /** Sends an empty statement on an idle session, so that it waits for an answer. */
  talk(): void;
  /** Destroys the connection locally. All waiting statements fail, and their outcome is unknown. */
  cut(): void;
}

export interface SessionProgress {
  bytesRead: number;
  /** Bytes of the statements that are not answered yet. */
  bytesSent: number;
  /** Bytes that the operating system has not accepted yet. */
  bytesQueued: number;
}

/**
 * Answer of the server to the question which sessions it works for:
 * - `answered`: the tags of its sessions that are not idle.
 * - `unreachable`: no connection could be made.
 * - `unknown`: a connection was made, but brought no answer: the server has no free session, or stands still.
 */
export type ServerAnswer = { kind: 'answered'; working: ReadonlySet<string> } | { kind: 'unreachable' | 'unknown' };

/** Asks the server, on a new connection, which of these sessions it works for. Never rejects. */
export type AskServer = (tags: readonly string[]) => Promise<ServerAnswer>;

interface SessionSilence {
  progress: SessionProgress;
  since: number;
  /** Time of the next question to the server. */
  askAt: number;
  /** Consecutive answers, without progress between them, that deny the session. */
  losses: number;
}

/**
 * Cuts sessions whose connection is lost. A vanished host, or a network that dropped a connection, sends no notice, and
 * TCP retransmits a statement for a quarter of an hour.
 *
 * - The server is asked about a session after four seconds without data while the session waits for an answer.
 * - The session is cut when two answers, 1.5 seconds apart, say that the server has no such session, that it is idle
 *   there, or that no new connection can be made.
 * - After the first such answer, idle sessions are probed as well, since the next statement would use them.
 * - A statement that the server executes is never cut, however long it takes. No session is cut while the server does
 *   not answer.
 */
export class SessionWatch {
  private readonly silences = new Map<WatchedSession, SessionSilence | undefined>();
  private asking = false;
  private timer: NodeJS.Timeout | undefined;

  /** @param now milliseconds of a monotonic clock */
  constructor(
    private readonly ask: AskServer,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Number of watched sessions. */
  get size(): number {
    return this.silences.size;
  }

  add(session: WatchedSession): void {
    this.silences.set(session, undefined);
    this.timer ??= setInterval(() => void this.checkSilent(), ROUND_MS).unref();
  }

  delete(session: WatchedSession): void {
    this.silences.delete(session);
    if (this.silences.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }

  /** Checks all sessions, and asks the server about those that have been silent for too long. Never rejects. */
  async checkSilent(): Promise<void> {
    const silent = [...this.silences.keys()].filter((session) => this.isDue(session));
    if (silent.length === 0 || this.asking) return;
    this.asking = true;
    try {
      const answer = await this.ask(silent.map(({ tag }) => tag));
      for (const session of silent) this.judgeSession(session, answer);
    } finally {
      this.asking = false;
    }
  }

  private isDue(session: WatchedSession): boolean {
    const silence = this.observeProgress(session);
    return silence !== undefined && silence.askAt <= this.now();
  }

  /** Records the progress of a session; returns `undefined` if it waits for nothing, or is no longer watched. */
  private observeProgress(session: WatchedSession): SessionSilence | undefined {
    if (!this.silences.has(session)) return undefined;
    const progress = session.progress();
    const before = this.silences.get(session);
    if (progress && before && isSame(progress, before.progress)) return before;
    const since = this.now();
    const silence = progress && { progress, since, askAt: since + allowedSilence(progress), losses: 0 };
    this.silences.set(session, silence);
    return silence;
  }

  private judgeSession(session: WatchedSession, answer: ServerAnswer): void {
    const asked = this.silences.get(session);
    const silence = this.observeProgress(session);
    if (!silence || silence !== asked) return;
    if (answer.kind === 'unknown' || (answer.kind === 'answered' && answer.working.has(session.tag))) {
      silence.losses = 0;
      silence.askAt = this.now() + Math.min(this.now() - silence.since, LONGEST_PAUSE_MS);
      return;
    }
    silence.losses += 1;
    if (silence.losses === 1) for (const other of this.silences.keys()) if (!other.progress()) other.talk();
    silence.askAt = this.now() + CONFIRM_MS;
    if (silence.losses === 2) session.cut();
  }
}

function allowedSilence({ bytesSent }: SessionProgress): number {
  return SILENCE_MS + Math.min(bytesSent, MOST_HIDDEN_BYTES) / SLOW_BYTES_PER_MS;
}

function isSame(one: SessionProgress, other: SessionProgress): boolean {
  return (
    one.bytesRead === other.bytesRead && one.bytesSent === other.bytesSent && one.bytesQueued === other.bytesQueued
  );
}
