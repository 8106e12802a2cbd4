/** Milliseconds without a byte after which the server is asked about a session that waits for an answer. */
const SILENCE_MS = 4_000;
/** Milliseconds between the two answers that a session needs to count as lost. */
const CONFIRM_MS = 1_500;
/** A statement that executes is asked about again after as long as it has been silent, at most this many milliseconds. */
const LONGEST_PAUSE_MS = 10_000;
const ROUND_MS = 500;
/**
 * Bytes that a slow network carries in a millisecond. A server shows a session as idle while it receives a statement, of which
 * the sockets on the way hold a part that nobody sees.
 */
const SLOW_BYTES_PER_MS = 256;
const MOST_HIDDEN_BYTES = 8 * 1024 ** 2;

/** A session, as far as its watch needs to know it. */
export interface WatchedSession {
  /** The part of its name that no other session has. */
  readonly tag: string;
  /** Returns how far it has come; `undefined` if it waits for no answer. */
  progress(): SessionProgress | undefined;
  /** Has a session that waits for no answer wait for one: it sends a statement that does nothing. */
  talk(): void;
  /** Ends the session at this side, with all statements that wait for it. Their outcome is unknown. */
  cut(): void;
}

export interface SessionProgress {
  bytesRead: number;
  /** Bytes of the statements that are not answered yet. */
  bytesSent: number;
  /** Bytes that the operating system has not taken yet. */
  bytesQueued: number;
}

/**
 * The answer of the server to the question which sessions it works for:
 * - `answered`: the tags of the sessions that it has, and that are not idle.
 * - `unreachable`: no connection could be made.
 * - `unknown`: a connection was made, but brought no answer, as at a server that has no session left or stands still.
 */
export type ServerAnswer = { kind: 'answered'; working: ReadonlySet<string> } | { kind: 'unreachable' | 'unknown' };

/** Asks the server, on a new connection, which of these sessions it works for. Never rejects. */
export type AskServer = (tags: readonly string[]) => Promise<ServerAnswer>;

interface Silence {
  progress: SessionProgress;
  since: number;
  /** When the server is asked next. */
  askAt: number;
  /** Answers in a row, without progress between them, that say that the server does not work for this session. */
  losses: number;
}

/**
 * Cuts sessions whose connection is lost. A host that vanished, or a network that forgot a connection, tells nobody: TCP sends
 * a statement again for a quarter of an hour.
 *
 * - A session is asked about after four seconds in which it waited for an answer and received nothing.
 * - It is cut when two answers say, 1.5 seconds apart, that the server has no such session, that the session is idle there, or
 *   that no new connection can be made.
 * - As soon as one seems to be lost, those that wait for nothing are tried as well: the next to use them would find out.
 * - A statement that the server executes is never cut, however long it takes. Nor is any while the server does not answer.
 */
export class SessionWatch {
  private readonly silences = new Map<WatchedSession, Silence | undefined>();
  private asking = false;
  private timer: NodeJS.Timeout | undefined;

  /** @param now milliseconds of a clock that is never set */
  constructor(
    private readonly ask: AskServer,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Number of sessions that are watched. */
  get size(): number {
    return this.silences.size;
  }

  add(session: WatchedSession): void {
    this.silences.set(session, undefined);
    this.timer ??= setInterval(() => void this.look(), ROUND_MS).unref();
  }

  delete(session: WatchedSession): void {
    this.silences.delete(session);
    if (this.silences.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }

  /** Looks at all sessions, and asks the server about those that have been silent for too long. Never rejects. */
  async look(): Promise<void> {
    const silent = [...this.silences.keys()].filter((session) => this.isDue(session));
    if (silent.length === 0 || this.asking) return;
    this.asking = true;
    try {
      const answer = await this.ask(silent.map(({ tag }) => tag));
      for (const session of silent) this.judge(session, answer);
    } finally {
      this.asking = false;
    }
  }

  private isDue(session: WatchedSession): boolean {
    const silence = this.observe(session);
    return silence !== undefined && silence.askAt <= this.now();
  }

  /** Notes whether the session has come any further; `undefined` if it waits for nothing, or is not watched any more. */
  private observe(session: WatchedSession): Silence | undefined {
    if (!this.silences.has(session)) return undefined;
    const progress = session.progress();
    const before = this.silences.get(session);
    if (progress && before && isSame(progress, before.progress)) return before;
    const since = this.now();
    const silence = progress && { progress, since, askAt: since + patience(progress), losses: 0 };
    this.silences.set(session, silence);
    return silence;
  }

  private judge(session: WatchedSession, answer: ServerAnswer): void {
    const asked = this.silences.get(session);
    const silence = this.observe(session);
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

function patience({ bytesSent }: SessionProgress): number {
  return SILENCE_MS + Math.min(bytesSent, MOST_HIDDEN_BYTES) / SLOW_BYTES_PER_MS;
}

function isSame(one: SessionProgress, other: SessionProgress): boolean {
  return (
    one.bytesRead === other.bytesRead && one.bytesSent === other.bytesSent && one.bytesQueued === other.bytesQueued
  );
}
