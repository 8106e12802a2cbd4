import { LRUCache } from 'lru-cache';
import { AgentCallError } from '#libs/a2a-client';
import type { JsonObject, JsonValue } from '#libs/protocol';
import { Backoff, unlessAborted } from '#libs/service';
import { type ListedTools, type McpToolDefinition, ToolListing } from '../pins/tool-listing.js';
import { isAnswer, isLostSession, isTimeout } from './failure-text.js';
import type { McpSession, SessionCall } from './mcp-session.js';

/** Milliseconds that a list of tools is used again after it was read. Until then the list is "fresh". */
const FRESH_MS = 30_000;
/**
 * Approximate maximum of bytes of memory for the cached tool lists of all servers. A list that does not fit is not
 * cached.
 */
const MOST_BYTES = 32 * 1024 * 1024;
const BYTES_OF_A_CHARACTER = 2;

/** Cache of the fresh lists of tools, for all servers of this process. */
export class FreshLists {
  private readonly lists = new LRUCache<object, ListedTools>({
    ttl: FRESH_MS,
    ttlAutopurge: true,
    maxSize: MOST_BYTES,
    sizeCalculation: (list) => JSON.stringify(list).length * BYTES_OF_A_CHARACTER,
  });

  get(key: object): ListedTools | undefined {
    return this.lists.get(key);
  }

  set(key: object, list: ListedTools): void {
    this.lists.set(key, list);
  }

  delete(key: object): void {
    this.lists.delete(key);
  }
}

/** Read of a list of tools that is in progress. */
interface Listing {
  list: Promise<ListedTools>;
  /** Number of callers that wait for the list. */
  readers: number;
  /** Controller that aborts the read when no caller waits for it any more. */
  given: AbortController;
  /** True if the server has reported a change of its tools since the read began, so that the list is not cached. */
  outdated: boolean;
}

/**
 * Reads the list of tools of one server for all callers.
 * - At most one read is in progress.
 * - The read is aborted when the last caller that waits for it leaves.
 */
class SharedListing {
  private running: Listing | undefined;

  /** @param list reads all tools of the server; rejects if the signal aborts before it has all of them */
  constructor(
    private readonly list: (signal: AbortSignal) => Promise<ListedTools>,
    private readonly fresh: FreshLists,
  ) {}

  /**
   * Returns a list that is at most 30 seconds old. With `refresh`, returns a list whose read begins after this call.
   * @throws the reason of the signal if it aborts; the error of the read if the list cannot be read
   */
  async readShared(signal: AbortSignal, refresh: boolean): Promise<ListedTools> {
    const fresh = refresh ? undefined : this.fresh.get(this);
    if (fresh) return fresh;
    if (refresh && this.running) await unlessAborted(awaitListing(this.running), signal);
    return this.joinListing(this.running ?? this.startListing(), signal);
  }

  /** Discards the cached list, as the tools of the server may have changed. */
  markOutdated(): void {
    this.fresh.delete(this);
    if (this.running) this.running.outdated = true;
  }

  private async joinListing(listing: Listing, signal: AbortSignal): Promise<ListedTools> {
    listing.readers += 1;
    try {
      return await unlessAborted(listing.list, signal);
    } finally {
      listing.readers -= 1;
      if (listing.readers === 0) this.abandonListing(listing);
    }
  }

  private startListing(): Listing {
    const given = new AbortController();
    const listing: Listing = { list: this.list(given.signal), readers: 0, given, outdated: false };
    this.running = listing;
    void listing.list.then(
      (list) => {
        this.forgetListing(listing);
        if (!listing.outdated) this.fresh.set(this, list);
      },
      () => this.forgetListing(listing),
    );
    return listing;
  }

  private abandonListing(listing: Listing): void {
    this.forgetListing(listing);
    listing.given.abort(new Error('The list of tools is no longer requested'));
  }

  private forgetListing(listing: Listing): void {
    if (this.running === listing) this.running = undefined;
  }
}

async function awaitListing({ list }: Listing): Promise<void> {
  await list.catch(() => undefined);
}

/** Removes secrets from an answer or an error, as a server may quote the request that it received. */
async function withoutSecrets<T extends JsonValue>(answer: Promise<T>, secrets: ReadonlySet<string>): Promise<T> {
  try {
    const result = await answer;
    if (secrets.size === 0) return result;
    const text = JSON.stringify(result);
    const cleaned = cleanedOf(
      text,
      [...secrets].map((it) => JSON.stringify(it).slice(1, -1)),
    );
    return cleaned === text ? result : (JSON.parse(cleaned) as T);
  } catch (error) {
    const { message, code } = error as { message?: unknown; code?: unknown };
    if (!isAnswer(error) || isTimeout(error) || typeof message !== 'string') throw error;
    const cleaned = cleanedOf(message, [...secrets]);
    throw cleaned === message ? error : new AgentCallError('rpc-error', `mcp error ${String(code)}: ${cleaned}`);
  }
}

function cleanedOf(text: string, secrets: readonly string[]): string {
  return secrets.reduce((cleaned, secret) => cleaned.replaceAll(secret, '[secret]'), text);
}

/** Callbacks of a session. */
export interface SessionEvents {
  /** Called when the session has ended. */
  ended: () => void;
  /** Called when the server reports that its list of tools has changed. */
  outdateListing: () => void;
}

/** Opens a session. `last` is the previous session with the same server, if any. */
export type SessionOpener = (events: SessionEvents, last: McpSession | undefined) => Promise<McpSession>;

const BACKOFF = new Backoff(500, 30_000);

/**
 * Connection to one MCP server. A session is opened on demand, shared by all callers, and opened again after its end.
 *
 * With `pauses` (servers that are local programs), a session that failed to open is not opened again before a pause has
 * passed. Until then calls fail with the same error. The pauses grow from 0.5 to 30 seconds (backoff).
 */
export class McpConnection {
  private current: Slot | undefined;
  /**
   * Previous session; `undefined` before the first one. It knows the era of the protocol that the server speaks:
   * `legacy` or `modern`.
   */
  private last: McpSession | undefined;
  private readonly listing: SharedListing;
  private failures = 0;
  private failed: { until: number; error: unknown } | undefined;
  private users = 0;
  private retired = false;

  /**
   * @param pauses true if a session that failed to open is not opened again before a pause has passed
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
   * Returns the tools of the server, read at most 30 seconds ago. With `refresh`, the tools are read after this call.
   * All callers that wait share one read. The read is aborted once no caller waits.
   */
  listTools(signal: AbortSignal, { refresh = false }: { refresh?: boolean } = {}): Promise<ListedTools> {
    return this.whileUsing(() => this.listing.readShared(signal, refresh));
  }

  /**
   * Calls a tool once. If the server has forgotten the session and so has not executed the call, the call is sent again
   * in a new session.
   */
  callServerTool(tool: McpToolDefinition, args: JsonObject, call: SessionCall): Promise<JsonObject> {
    const answer = this.whileUsing(() =>
      this.withSession((session) => session.sendToolCall(tool, args, call), call.signal),
    );
    return withoutSecrets(answer, this.secrets);
  }

  /** Closes the connection at once. Calls in progress fail. */
  async close(): Promise<void> {
    this.retired = true;
    await this.dropSession();
  }

  /** Closes the connection as soon as no call is in progress. */
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
    const session = await unlessAborted(slot.session, signal);
    try {
      const result = await work(session);
      this.failures = 0;
      return result;
    } catch (error) {
      signal?.throwIfAborted();
      if (isAnswer(error)) throw error;
      this.forgetSlot(slot);
      if (isNew || !session.isKept || !isLostSession(error)) throw error;
      return work(await unlessAborted(this.ensureSlot().session, signal));
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
    this.failed = { until: performance.now() + BACKOFF.pauseAfter(this.failures++), error };
  }

  /** Closes the session of a slot. The next call opens a new session. */
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

/** Session that is open or being opened. */
interface Slot {
  session: Promise<McpSession>;
}

async function closeSlot({ session }: Slot): Promise<void> {
  const open = await session.catch(() => undefined);
  if (open && !open.ended) await open.close().catch(() => undefined);
}
