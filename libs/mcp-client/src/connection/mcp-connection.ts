import type { JsonObject } from '#libs/protocol';
import { type ToolDefinition, type ToolList, toolList } from '../pins/tool-definition.js';
import { isAnswer, isLostSession } from './failure-text.js';
import type { McpSession, SessionCall } from './mcp-session.js';
import { withoutSecrets } from './without-secrets.js';

/** What a session tells of itself while it lasts. */
export interface SessionEvents {
  ended: () => void;
  /** The server's tools are others now. */
  changed: () => void;
}

export type OpenSession = (events: SessionEvents, last: McpSession | undefined) => Promise<McpSession>;

/** How long a list of tools is taken for what a server has. */
const FRESH_MS = 30_000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;

/**
 * The connection to one server: a session is opened when one is needed, shared by all who ask, and opened anew after its
 * end. One that does not come about is tried again after a pause that grows, and until then fails as it did.
 */
export class McpConnection {
  private current: Slot | undefined;
  /** The one before, from which is known what the server speaks. */
  private last: McpSession | undefined;
  private listing: { list: Promise<ToolList>; until: number } | undefined;
  private failures = 0;
  private failed: { until: number; error: unknown } | undefined;
  private users = 0;
  private retired = false;

  /** @param pauses whether a failure is not tried again at once; @param secrets what no answer may have; @param now milliseconds that never go back */
  constructor(
    private readonly open: OpenSession,
    private readonly pauses: boolean,
    private readonly secrets: ReadonlySet<string> = new Set(),
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** The server's tools, as it listed them half a minute ago at most; `refresh`: now. */
  tools(signal: AbortSignal, { refresh }: { refresh?: boolean } = {}): Promise<ToolList> {
    return this.using(async () => {
      if (refresh || !this.listing || this.now() >= this.listing.until) this.list();
      return settled(this.listing!.list, signal);
    });
  }

  /** Calls a tool once. A session that the server has forgotten is opened anew for it. */
  call(tool: ToolDefinition, args: JsonObject, call: SessionCall): Promise<JsonObject> {
    const answer = this.using(() => this.withSession((session) => session.call(tool, args, call), call.signal));
    return withoutSecrets(answer, this.secrets);
  }

  /** Ends it, at once. Whoever uses it fails. */
  async close(): Promise<void> {
    this.retired = true;
    await this.drop();
  }

  /** Ends it as soon as nobody uses it. */
  retire(): void {
    this.retired = true;
    if (this.users === 0) void this.drop();
  }

  private list(): void {
    const listed = this.withSession((session) => session.tools());
    const list = withoutSecrets(listed, this.secrets).then(toolList);
    const listing = { list, until: this.now() + FRESH_MS };
    this.listing = listing;
    list.catch(() => {
      if (this.listing === listing) this.listing = undefined;
    });
  }

  private async using<T>(work: () => Promise<T>): Promise<T> {
    this.users += 1;
    try {
      return await work();
    } finally {
      this.users -= 1;
      if (this.retired && this.users === 0) void this.drop();
    }
  }

  private async withSession<T>(work: (session: McpSession) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const isNew = this.current === undefined;
    const slot = this.opened();
    const session = await settled(slot.session, signal);
    try {
      const result = await work(session);
      this.failures = 0;
      return result;
    } catch (error) {
      signal?.throwIfAborted();
      if (isAnswer(error)) throw error;
      this.forget(slot);
      if (isNew || !session.isKept || !isLostSession(error)) throw error;
      return work(await settled(this.opened().session, signal));
    }
  }

  private opened(): Slot {
    if (this.current) return this.current;
    if (this.failed && this.now() < this.failed.until) return { session: Promise.reject(this.failed.error as Error) };
    const slot = {} as Slot;
    this.current = slot;
    slot.session = this.openIn(slot);
    slot.session.catch((error: unknown) => {
      this.forget(slot);
      this.last = undefined;
      this.pauseAfter(error);
    });
    return slot;
  }

  private async openIn(slot: Slot): Promise<McpSession> {
    const changed = (): void => void (this.listing = undefined);
    const session = await this.open({ changed, ended: () => this.forget(slot) }, this.last);
    this.last = session;
    this.failed = undefined;
    return session;
  }

  private pauseAfter(error: unknown): void {
    if (!this.pauses) return;
    const pause = Math.min(FIRST_PAUSE_MS * 2 ** this.failures, LONGEST_PAUSE_MS);
    this.failures += 1;
    this.failed = { until: this.now() + pause, error };
  }

  /** The next use opens another one. */
  private forget(slot: Slot): void {
    if (this.current !== slot) return;
    this.current = undefined;
    this.listing = undefined;
    void ended(slot);
  }

  private async drop(): Promise<void> {
    const { current } = this;
    this.current = undefined;
    this.listing = undefined;
    if (current) await ended(current);
  }
}

/** A session that is open, or about to be. */
interface Slot {
  session: Promise<McpSession>;
}

async function ended({ session }: Slot): Promise<void> {
  const open = await session.catch(() => undefined);
  if (open && !open.ended) await open.close().catch(() => undefined);
}

/** What a promise that others wait for as well comes to, or the signal's reason where it aborts before. */
async function settled<T>(shared: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return shared;
  signal.throwIfAborted();
  const gone = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true, signal: gone.signal });
  });
  return Promise.race([shared, aborted]).finally(() => gone.abort());
}
