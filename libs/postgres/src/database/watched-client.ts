import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import pg from 'pg';

/**
 * Milliseconds without received data before a new connection asks the server about a session that waits for an
 * answer.
 */
const SILENCE_MS = 4_000;
/** Minimum milliseconds between the two answers that confirm the loss of a session. */
const CONFIRM_MS = 1_500;
/** Maximum milliseconds between two questions about an executing statement. The pause grows with its silence. */
const LONGEST_PAUSE_MS = 10_000;
const ROUND_MS = 500;
/**
 * Assumed throughput of a slow network, in bytes per millisecond. The server reports a session as idle until it has
 * received the whole statement. SessionWatch therefore waits longer for a large statement: for the time that its bytes
 * need at this throughput.
 */
const SLOW_BYTES_PER_MS = 256;
const MOST_HIDDEN_BYTES = 8 * 1024 ** 2;

/** Database session that SessionWatch watches. */
export interface WatchedSession {
  /** Unique part of the session's name. */
  readonly tag: string;
  /** Returns the progress of the session; `undefined` if it waits for no answer. */
  progress(): SessionProgress | undefined;
  /**
   * Sends an empty statement on an idle session. The session then waits for an answer, so the loss of its connection
   * shows.
   */
  talk(): void;
  /** Destroys the connection locally. All waiting statements fail, and their outcome is unknown. */
  cut(): void;
}

export interface SessionProgress {
  bytesRead: number;
  /** Bytes of the statements that are not answered yet. */
  bytesSent: number;
  /** Bytes of the statements that the operating system has not accepted yet. */
  bytesQueued: number;
}

/**
 * Answer of the server to the question which sessions have a statement under way:
 * - `answered`: the tags of those sessions that are not idle.
 * - `unreachable`: no connection could be made.
 * - `unknown`: a connection was made, but brought no answer: the server has no free session, or stands still.
 */
export type ServerAnswer = { kind: 'answered'; working: ReadonlySet<string> } | { kind: 'unreachable' | 'unknown' };

/**
 * Asks the server, on a new connection, which of the sessions with these tags have a statement under way. Never
 * rejects.
 */
type AskServer = (tags: readonly string[]) => Promise<ServerAnswer>;

interface SessionSilence {
  progress: SessionProgress;
  since: number;
  /** Time of the next question to the server, in milliseconds of the clock of SessionWatch. */
  askAt: number;
  /** Number of consecutive answers that show the session as lost; progress of the session resets it to 0. */
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

  /**
   * Records the progress of a session. Returns since when the session waits without progress; `undefined` if it waits
   * for no answer, or is no longer watched.
   */
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

/** Name of the sessions of this process; a colon and their purpose may follow. */
export const SESSIONS_OF_PROCESS = `parley:${process.pid}`;

/** Maximum milliseconds for a new connection and its answer. */
const ANSWER_MS = 5_000;
/** Maximum milliseconds for the server to end a session after the client's Terminate message. */
const GOODBYE_MS = 5_000;
/**
 * Milliseconds between two empty statements on a listening session. If one stays unanswered, SessionWatch notices that
 * the connection is lost.
 */
const TALK_MS = 5_000;
/** Maximum number of characters of a session name in PostgreSQL, which truncates longer names. */
const LONGEST_NAME = 63;

/** Connection errors that prove that no server is at the address. */
const NOBODY_THERE = new Set(['ECONNREFUSED', 'EHOSTDOWN', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT']);

/** Session watches by server address. A watch is removed with its last session. */
const watches = new Map<string, SessionWatch>();

/**
 * Returns a client class whose sessions are cut when their connection is lost (see SessionWatch): waiting statements
 * fail, and the session emits `end`. Each session has a unique name, which poolers pass on.
 */
export function watchedClient(url: string, Client: typeof pg.Client): typeof pg.Client {
  const WatchedClient = class extends openClass(Client) {
    private readonly tag = newTag();
    private bytesAnswered = 0;

    constructor(config?: string | pg.ClientConfig) {
      super(config);
      this.connection.on('readyForQuery', () => (this.bytesAnswered = this.connection.stream.bytesWritten));
      this.once('connect', () => {
        this.joinWatch();
        this.keepTalking();
      });
    }

    override getStartupConf(): Record<string, string> {
      const conf = super.getStartupConf();
      return { ...conf, application_name: taggedName(conf.application_name ?? SESSIONS_OF_PROCESS, this.tag) };
    }

    /** Ends the session. A lost connection never ends by itself, so it is destroyed after five seconds. */
    override end(callback?: (error: Error) => void): Promise<void> {
      const timer = setTimeout(() => this.connection.stream.destroy(), GOODBYE_MS).unref();
      this.connection.once('end', () => clearTimeout(timer));
      return super.end(callback);
    }

    private joinWatch(): void {
      const { tag } = this;
      const session = {
        tag,
        progress: () => this.measureProgress(),
        talk: () => this.sendEmptyQuery(),
        cut: () => this.destroyConnection(),
      };
      const watch = watchOf(url, Client);
      watch.add(session);
      this.once('end', () => {
        watch.delete(session);
        if (watch.size === 0 && watches.get(url) === watch) watches.delete(url);
      });
    }

    /** Sends statements on a listening session, which otherwise waits for no answer and would not detect the loss. */
    private keepTalking(): void {
      const timer = setInterval(() => {
        if (this.listenerCount('notification') > 0) this.sendEmptyQuery();
      }, TALK_MS).unref();
      this.once('end', () => clearInterval(timer));
    }

    private sendEmptyQuery(): void {
      // A failed statement means that the session has ended.
      if (this.readyForQuery) this.query('').catch(() => undefined);
    }

    private measureProgress(): SessionProgress | undefined {
      if (this.readyForQuery !== false) return undefined;
      const { bytesRead, bytesWritten, writableLength } = this.connection.stream;
      return { bytesRead, bytesSent: bytesWritten - this.bytesAnswered, bytesQueued: writableLength };
    }

    private destroyConnection(): void {
      this.connection.stream.destroy(new ConnectionLost());
    }
  };
  return WatchedClient as unknown as typeof pg.Client;
}

/** Reports statements whose connection was lost: they may have been executed. */
class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
  /** Code with which the operating system would report the lost connection, but only minutes later. */
  readonly code = 'ETIMEDOUT';

  constructor() {
    super('Connection terminated: it was lost without a word');
  }
}

/** Members of a `pg` session that its types omit. */
interface OpenParts {
  readonly connection: NodeJS.EventEmitter & { readonly stream: Socket };
  /** True if the server is ready for the next statement; `undefined` before the first statement. */
  readonly readyForQuery?: boolean;
  getStartupConf(): Record<string, string>;
  end(callback?: (error: Error) => void): Promise<void>;
}

type OpenClient = Omit<pg.Client, keyof OpenParts> & OpenParts;

function openClass(Client: typeof pg.Client): new (config?: string | pg.ClientConfig) => OpenClient {
  return Client as unknown as new (config?: string | pg.ClientConfig) => OpenClient;
}

function newTag(): string {
  return `~${randomBytes(5).toString('hex')}`;
}

function taggedName(name: string, tag: string): string {
  const own = name.startsWith(SESSIONS_OF_PROCESS) ? SESSIONS_OF_PROCESS : name;
  const rest = name.slice(own.length);
  return `${own.slice(0, LONGEST_NAME - tag.length - rest.length - 1)}:${tag}${rest}`;
}

function watchOf(url: string, Client: typeof pg.Client): SessionWatch {
  const known = watches.get(url) ?? new SessionWatch(createAskServer(url, Client));
  watches.set(url, known);
  return known;
}

/**
 * Creates a function that asks the server at `url` which of this process's sessions have a statement under way. Behind
 * a pooler, the question queues behind the statements that these sessions have sent. Such a statement has therefore
 * left the queue when the server answers the question.
 */
function createAskServer(url: string, Client: typeof pg.Client): AskServer {
  return async (tags) => {
    const name = taggedName(`${SESSIONS_OF_PROCESS}:watch`, newTag());
    const client = askingClient(url, name, Client);
    let isConnected = false;
    client.connection.once('connect', () => (isConnected = true));
    const timer = setTimeout(() => client.connection.stream.destroy(new ConnectionLost()), ANSWER_MS);
    try {
      await client.connect();
      const { rows } = await client.query<{ isNamed: boolean; working: string[] }>(WORKING, [name, tags]);
      void client.end();
      // A pooler that does not pass names on hides which sessions the server works for.
      return rows[0]!.isNamed ? { kind: 'answered', working: new Set(rows[0]!.working) } : { kind: 'unknown' };
    } catch (error) {
      client.connection.stream.destroy();
      return { kind: !isConnected && isNobodyThere(error) ? 'unreachable' : 'unknown' };
    } finally {
      clearTimeout(timer);
    }
  };
}

function askingClient(url: string, name: string, Client: typeof pg.Client): OpenClient {
  const AskingClient = class extends openClass(Client) {
    override getStartupConf(): Record<string, string> {
      return { ...super.getStartupConf(), application_name: name };
    }
  };
  const client = new AskingClient(url);
  client.on('error', () => undefined);
  return client;
}

/** True if no server is at any address of a host name. */
function isNobodyThere(error: unknown): boolean {
  const { errors = [error] } = error as Partial<AggregateError>;
  return errors.every((it) => NOBODY_THERE.has(String((it as NodeJS.ErrnoException).code)));
}

// If the server hides the state of a session, the session counts as busy.
const WORKING = `
  WITH busy AS MATERIALIZED (
    SELECT application_name AS name FROM pg_stat_activity WHERE coalesce(state, '') NOT LIKE 'idle%'
  )
  SELECT strpos(current_setting('application_name'), $1) > 0 AS "isNamed",
    ARRAY(
      SELECT tag FROM unnest($2::text[]) AS watched (tag) WHERE EXISTS (SELECT FROM busy WHERE strpos(busy.name, tag) > 0)
    ) AS working`;
