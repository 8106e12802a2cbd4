import type { JsonObject } from '#libs/protocol';
import type { McpToolDefinition } from '../pins/tool-definition.js';
import { type ListedTools, ToolListing } from '../pins/tool-listing.js';
import { FreshLists } from './fresh-lists.js';
import { isAnswer, isLostSession } from './failure-text.js';
import type { McpSession, SessionCall } from './mcp-session.js';
import { awaitShared, SharedListing } from './shared-listing.js';
import { withoutSecrets } from './without-secrets.js';

/** Callbacks for the events of a session. */
export interface SessionEvents {
  ended: () => void;
  /** Called when the server reports that its list of tools has changed. */
  outdateListing: () => void;
}

export type SessionOpener = (events: SessionEvents, last: McpSession | undefined) => Promise<McpSession>;

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;

/**
 * Connection to one server. A session is opened on demand, shared by all callers, and reopened after its end. If
 * opening fails, further calls fail with the same error until a pause has passed; the pauses grow from 0.5 to 30
 * seconds.
 */
export class McpConnection {
  private current: Slot | undefined;
  /** Previous session; it knows which era of the protocol the server speaks. */
  private last: McpSession | undefined;
  private readonly listing: SharedListing;
  private failures = 0;
  private failed: { until: number; error: unknown } | undefined;
  private users = 0;
  private retired = false;

  /**
   * @param pauses true if a failed opening is not retried at once
   * @param secrets texts that are removed from every answer
   * @param lists cache of fresh lists, shared by all connections
   */
  constructor(
    private readonly open: SessionOpener,
    private readonly pauses: boolean,
    private readonly secrets: ReadonlySet<string> = new Set(),
    lists: FreshLists = new FreshLists(),
  ) {
    this.listing = new SharedListing((signal) => this.readList(signal), lists);
  }

  /**
   * Returns the server's tools, at most 30 seconds old; with `refresh`, listed after this call. All waiting callers
   * share one listing, which is aborted once no caller waits.
   */
  listTools(signal: AbortSignal, { refresh = false }: { refresh?: boolean } = {}): Promise<ListedTools> {
    return this.whileUsing(() => this.listing.readShared(signal, refresh));
  }

  /** Calls a tool once. If the server has forgotten the session, the call is sent again in a new one. */
  callServerTool(tool: McpToolDefinition, args: JsonObject, call: SessionCall): Promise<JsonObject> {
    const answer = this.whileUsing(() =>
      this.withSession((session) => session.sendToolCall(tool, args, call), call.signal),
    );
    return withoutSecrets(answer, this.secrets);
  }

  /** Closes the connection at once. Calls that use it fail. */
  async close(): Promise<void> {
    this.retired = true;
    await this.dropSession();
  }

  /** Closes the connection as soon as no call uses it. */
  closeWhenIdle(): void {
    this.retired = true;
    if (this.users === 0) void this.dropSession();
  }

  private readList(signal: AbortSignal): Promise<ListedTools> {
    return this.withSession(async (session) => {
      const listing = new ToolListing();
      const pages = session.listPages(signal);
      for (;;) {
        const page = pages.next().then(({ done, value }) => (done ? null : value));
        const cleaned = await withoutSecrets(page, this.secrets);
        if (cleaned === null) return listing.finishList();
        listing.addPage(cleaned);
      }
    }, signal);
  }

  private async whileUsing<T>(work: () => Promise<T>): Promise<T> {
    this.users += 1;
    try {
      return await work();
    } finally {
      this.users -= 1;
      if (this.retired && this.users === 0) void this.dropSession();
    }
  }

  private async withSession<T>(work: (session: McpSession) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const isNew = this.current === undefined;
    const slot = this.ensureSlot();
    const session = await awaitShared(slot.session, signal);
    try {
      const result = await work(session);
      this.failures = 0;
      return result;
    } catch (error) {
      signal?.throwIfAborted();
      if (isAnswer(error)) throw error;
      this.forgetSlot(slot);
      if (isNew || !session.isKept || !isLostSession(error)) throw error;
      return work(await awaitShared(this.ensureSlot().session, signal));
    }
  }

  private ensureSlot(): Slot {
    if (this.current) return this.current;
    if (this.failed && performance.now() < this.failed.until)
      return { session: Promise.reject(this.failed.error as Error) };
    const slot = {} as Slot;
    this.current = slot;
    slot.session = this.openIn(slot);
    slot.session.catch((error: unknown) => {
      this.forgetSlot(slot);
      this.last = undefined;
      this.pauseAfter(error);
    });
    return slot;
  }

  private async openIn(slot: Slot): Promise<McpSession> {
    const outdateListing = (): void => this.listing.markOutdated();
    const session = await this.open({ outdateListing, ended: () => this.forgetSlot(slot) }, this.last);
    this.last = session;
    this.failed = undefined;
    return session;
  }

  private pauseAfter(error: unknown): void {
    if (!this.pauses) return;
    const pause = Math.min(FIRST_PAUSE_MS * 2 ** this.failures, LONGEST_PAUSE_MS);
    this.failures += 1;
    this.failed = { until: performance.now() + pause, error };
  }

  /** Ends a session; the next call opens another one. */
  private forgetSlot(slot: Slot): void {
    if (this.current !== slot) return;
    this.current = undefined;
    this.listing.markOutdated();
    void closeSlot(slot);
  }

  private async dropSession(): Promise<void> {
    const { current } = this;
    this.current = undefined;
    this.listing.markOutdated();
    if (current) await closeSlot(current);
  }
}

/** Session that is open or opening. */
interface Slot {
  session: Promise<McpSession>;
}

async function closeSlot({ session }: Slot): Promise<void> {
  const open = await session.catch(() => undefined);
  if (open && !open.ended) await open.close().catch(() => undefined);
}
