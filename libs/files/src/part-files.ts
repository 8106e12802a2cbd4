import { Injectable, Logger } from '@nestjs/common';
import { addAbortSignal } from 'node:stream';
import { OutgoingFiles } from '#libs/a2a-client';
import { type HeldParts, PartKeeper, type PartRestorer } from '#libs/agents';
import { ProblemError, ServiceAddress } from '#libs/http-server';
import { retryWhileDatabaseDown } from '#libs/postgres';
import { claimsKeptFile, keptFileOf, type Part, withBytes, withKeptFile, withoutKeptFile } from '#libs/protocol';
import { AppConfig, type ContentRoom, ContentRooms, isLoopbackHost, Metrics, unlessAborted } from '#libs/service';
import { FileAddresses } from './file-addresses.js';
import { type ArrivingFile, FileContents, readThroughOutage } from './file-contents.js';
import { unknownFile } from './file-errors.js';
import { fileLabel } from './file-label.js';
import { FileStore } from './file-store.js';
import { OwnFileUrls, type SignedUrl } from './own-file-urls.js';
import { FILE_ID, type FileOwner, type StoredFile } from './stored-file.js';

/**
 * Reads files that Parts refer to by URLs of this service, without the network, and signs such URLs for remote agents.
 */
@Injectable()
export class OwnFiles extends OutgoingFiles {
  constructor(
    private readonly files: FileStore,
    private readonly contents: FileContents,
    private readonly addresses: FileAddresses,
    private readonly service: ServiceAddress,
    private readonly urls: OwnFileUrls,
  ) {
    super();
  }

  /** Returns the owner's files that the URLs in the Parts name. */
  async findNamed(parts: readonly Part[], owner: FileOwner): Promise<Map<string, StoredFile>> {
    const ids = new Map(
      parts.flatMap(({ url = '' }): [string, string][] => {
        const id = this.urls.idOf(url);
        return id === undefined ? [] : [[url, id]];
      }),
    );
    const files = await this.files.findAmong(owner, [...ids.values()]);
    return new Map(
      [...ids].flatMap(([url, id]): [string, StoredFile][] => {
        const file = files.get(id);
        return file ? [[url, file]] : [];
      }),
    );
  }

  /** True if the URL of a Part is a signed address of a file of this service, of any owner. */
  isSigned({ url }: Part): boolean {
    return this.signedUrl(url) !== undefined;
  }

  /**
   * Returns Parts in which the permanent URL of each of the owner's files replaces its signed address, which would
   * expire.
   */
  async withoutSignatures(parts: readonly Part[], owner: FileOwner): Promise<Part[]> {
    const signed = new Map(parts.map((part) => [part, this.signedUrl(part.url)]));
    const ids = [...signed.values()].flatMap((it) => it?.id ?? []);
    const files = await this.files.findAmong(owner, ids);
    return parts.map((part) => {
      const address = signed.get(part);
      return address && files.has(address.id) ? { ...part, url: address.url } : part;
    });
  }

  /**
   * Returns the content of the file to which a URL refers; `undefined` for a URL of another service. Waits for an
   * unreachable database, and up to five minutes for the storage.
   * @param admit called once with the number of bytes of the file before they are read; if it rejects, this method
   *   does, too
   * @throws ProblemError 404 for a file that the owner does not have, 503 after the five minutes
   * @throws the signal's reason
   */
  async readContent(
    url: string,
    owner: FileOwner,
    admit: (bytes: number) => Promise<void>,
    signal: AbortSignal,
  ): Promise<Buffer | undefined> {
    const id = this.urls.idOf(url);
    if (id === undefined) return undefined;
    const file = await this.findFile(id, owner, signal);
    if (!file) throw unknownFile();
    await admit(file.size);
    return readThroughOutage(() => this.readWholeContent(file, signal), signal);
  }

  /** Returns the whole content of a file. @throws ProblemError like `FileContents.openContent`; the signal's reason */
  async readWholeContent(file: StoredFile, signal: AbortSignal): Promise<Buffer> {
    const pieces: Buffer[] = [];
    try {
      const content = addAbortSignal(signal, await this.contents.openContent(file));
      for await (const piece of content) pieces.push(piece as Buffer);
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    }
    return Buffer.concat(pieces);
  }

  override async openFiles(
    parts: readonly Part[],
    owner: FileOwner,
    forMs: number,
    signal: AbortSignal,
  ): Promise<Part[]> {
    const until = new Date(Date.now() + forMs);
    const base = this.service.publicBaseUrl();
    const files = await retryWhileDatabaseDown(() => this.findNamed(parts, owner), signal);
    return parts.map((part) => {
      const file = files.get(part.url ?? '');
      return file ? { ...part, url: this.addresses.signAddress(file, base, until) } : part;
    });
  }

  private signedUrl(text: string | undefined): SignedUrl | undefined {
    // Fast path: most URLs have no signature.
    const signed = text?.includes('&signature=') ? this.urls.signedUrl(text) : undefined;
    return signed && this.addresses.isSigned(signed.id, signed.proof) ? signed : undefined;
  }

  private findFile(id: string, owner: FileOwner, signal: AbortSignal): Promise<StoredFile | undefined> {
    return retryWhileDatabaseDown(() => this.files.get(owner, id), signal);
  }
}

/**
 * Milliseconds until FileUpkeepJob may delete a stored file to which no Task refers. The value is large, because
 * the commit of the Task that will refer to the file may be delayed for long.
 */
const UNNAMED_MS = 24 * 60 * 60_000;
/**
 * Milliseconds from the storage of a file during which its owner cannot delete the file, even if no Task refers to it
 * yet. So the owner cannot delete it while the event that will refer to it is being recorded.
 */
const HELD_MS = 15 * 60_000;
/** Maximum milliseconds that a Message or an Artifact waits until the storage has its large Parts. */
const STORE_MS = 10_000;
/** Milliseconds after a failure of the storage when Parts keep their bytes, and none is stored as a file. */
const PAUSE_MS = 10_000;
/** Maximum number of Messages and Artifacts whose Parts are stored at the same time. */
const MOST_AT_WORK = 32;
const WARN_EVERY_MS = 60_000;

/** Part whose bytes are to be stored. */
interface LargePart {
  readonly part: Part;
  readonly bytes: Buffer;
}

/** Part, and the file whose bytes it gets. */
interface FoundPart {
  readonly part: Part;
  readonly file?: StoredFile;
}

/**
 * Stores large Parts (of FILES_OFFLOAD bytes or more) as files of the Task's owner, and reads their bytes again for
 * executors and readers that need them.
 */
@Injectable()
export class KeptParts extends PartKeeper {
  private readonly logger = new Logger(KeptParts.name);
  private readonly outcomes: ReturnType<Metrics['counter']>;
  /** Minimum size in bytes at which a Part is stored as a file; `undefined`: no Part is. */
  private readonly least: number | undefined;
  private atWork = 0;
  private pausedUntil = 0;
  private warnedAt = -Infinity;

  constructor(
    private readonly files: FileStore,
    private readonly contents: FileContents,
    private readonly own: OwnFiles,
    private readonly service: ServiceAddress,
    private readonly config: AppConfig,
    private readonly rooms: ContentRooms,
    metrics: Metrics,
  ) {
    super();
    const isReachable = config.publicUrl !== undefined || isLoopbackHost(config.host);
    if (!isReachable && config.files.offloadBytes !== undefined)
      this.logger.warn('FILES_OFFLOAD has no effect without PUBLIC_URL: callers could not open the URLs of files');
    this.least = isReachable ? config.files.offloadBytes : undefined;
    const help = 'Large raw Parts of this replica: kept as files, or left in the log and why';
    this.outcomes = metrics.counter('parley_large_parts_total', help, ['outcome']);
  }

  override concernsParts(parts: readonly Part[]): boolean {
    return parts.some((part) => claimsKeptFile(part) || this.isLarge(part) || this.own.isSigned(part));
  }

  override async keepParts(parts: readonly Part[], owner: FileOwner, signal?: AbortSignal): Promise<Part[]> {
    const judged = await this.judgeClaims(await this.closeAddresses(parts, owner, signal), owner, signal);
    const large = judged.flatMap((part) => this.largePart(part) ?? []);
    if (large.length === 0) return judged;
    const files = await this.storeParts(large, owner, signal);
    const kept = new Map(files.map((file, index) => [large[index]!.part, this.nameFile(large[index]!.part, file)]));
    return judged.map((part) => kept.get(part) ?? part);
  }

  override restorer(owner: FileOwner, signal: AbortSignal): PartRestorer {
    const opened = this.openRestorer(this.rooms.recordedParts, owner, signal);
    return {
      restoreParts: async (parts) => opened.restoreParts(await this.closeAddresses(parts, owner, signal)),
      [Symbol.dispose]: () => opened[Symbol.dispose](),
    };
  }

  override async holdParts(parts: readonly Part[], owner: FileOwner, signal: AbortSignal): Promise<HeldParts> {
    const restorer = this.openRestorer(this.rooms.workParts, owner, signal);
    try {
      return { parts: await restorer.restoreParts(parts), [Symbol.dispose]: () => restorer[Symbol.dispose]() };
    } catch (error) {
      restorer[Symbol.dispose]();
      throw error;
    }
  }

  private openRestorer(room: ContentRoom, owner: FileOwner, signal: AbortSignal): PartRestorer {
    const place = room.openPlace(owner);
    let held = 0;
    return {
      restoreParts: async (parts) => {
        const { found, characters } = await this.findFiles(parts, owner, signal);
        held += characters;
        await place.holdBytes(held, signal);
        return this.readParts(found, signal);
      },
      [Symbol.dispose]: () => place[Symbol.dispose](),
    };
  }

  /**
   * Finds the files of Parts, and decides which files are read: their base64 has at most ARTIFACT_LIMIT characters
   * together.
   */
  private async findFiles(parts: readonly Part[], owner: FileOwner, signal: AbortSignal) {
    let characters = 0;
    const found: FoundPart[] = [];
    for (const part of parts) {
      const file = claimsKeptFile(part) ? await this.keptFile(part, owner, signal) : undefined;
      const length = encodedLength(file?.size ?? 0);
      const isRead = file !== undefined && characters + length <= this.config.content.artifact;
      if (isRead) characters += length;
      if (isRead) found.push({ part, file });
      else found.push({ part: file || !claimsKeptFile(part) ? part : withoutKeptFile(part) });
    }
    return { found, characters };
  }

  private async readParts(found: readonly FoundPart[], signal: AbortSignal): Promise<Part[]> {
    const restored: Part[] = [];
    for (const { part, file } of found)
      restored.push(file ? withBytes(part, (await this.readFileBytes(file, signal)).toString('base64')) : part);
    return restored;
  }

  private readFileBytes(file: StoredFile, signal: AbortSignal): Promise<Buffer> {
    return readThroughOutage(() => this.own.readWholeContent(file, signal), signal);
  }

  /** Returns Parts in which permanent URLs replace the signed addresses that an agent received when it was called. */
  private async closeAddresses(
    parts: readonly Part[],
    owner: FileOwner,
    signal: AbortSignal | undefined,
  ): Promise<Part[]> {
    if (!parts.some((part) => this.own.isSigned(part))) return [...parts];
    const removeSignatures = (): Promise<Part[]> => this.own.withoutSignatures(parts, owner);
    return signal ? retryWhileDatabaseDown(removeSignatures, signal) : removeSignatures();
  }

  private isLarge({ raw }: Part): boolean {
    return this.least !== undefined && raw !== undefined && Buffer.byteLength(raw, 'base64') >= this.least;
  }

  /**
   * Returns a Part with its decoded bytes, if they are to be stored as a file; else `undefined`. A Part stays in the
   * log if encoding its bytes again would give a different base64 text.
   */
  private largePart(part: Part): LargePart | undefined {
    if (!this.isLarge(part)) return undefined;
    const bytes = Buffer.from(part.raw!, 'base64');
    return bytes.toString('base64') === part.raw ? { part, bytes } : undefined;
  }

  /** Removes the `KEPT_FILE` metadata from Parts that claim falsely to be stored as files. */
  private async judgeClaims(
    parts: readonly Part[],
    owner: FileOwner,
    signal: AbortSignal | undefined,
  ): Promise<Part[]> {
    const claiming = parts.filter(claimsKeptFile);
    const findNamed = (): Promise<Map<string, StoredFile>> => this.own.findNamed(claiming, owner);
    const files = await (signal ? retryWhileDatabaseDown(findNamed, signal) : findNamed());
    return parts.map((part) => {
      if (!claimsKeptFile(part)) return part;
      const file = files.get(part.url ?? '');
      return file && isSame(part, file) ? part : withoutKeptFile(part);
    });
  }

  /** Returns the file that a Part of a log refers to, even if the Part has an earlier address of this service. */
  private async keptFile(part: Part, owner: FileOwner, signal: AbortSignal): Promise<StoredFile | undefined> {
    const { id = '' } = keptFileOf(part) ?? {};
    if (!FILE_ID.test(id) || !part.url?.endsWith(`/api/files/${id}`)) return undefined;
    const file = await retryWhileDatabaseDown(() => this.files.get(owner, id), signal);
    return file && isSame(part, file) ? file : undefined;
  }

  private nameFile(part: Part, { id, size, sha256 }: StoredFile): Part {
    return withKeptFile(part, `${this.service.publicBaseUrl()}/api/files/${id}`, { id, size, sha256 });
  }

  /** Stores the Parts, all or none. Never rejects. @returns an empty list if the Parts stay unchanged */
  private async storeParts(
    large: readonly LargePart[],
    owner: FileOwner,
    signal: AbortSignal | undefined,
  ): Promise<StoredFile[]> {
    if (this.atWork >= MOST_AT_WORK || performance.now() < this.pausedUntil) {
      this.outcomes.inc({ outcome: 'busy' }, large.length);
      return [];
    }
    const announced = large.reduce((sum, { bytes }) => sum + bytes.length, 0);
    this.atWork += 1;
    const storing = this.contents.storeFiles(owner, filesOf(large), announced, { keptMs: UNNAMED_MS, heldMs: HELD_MS });
    void storing.catch(() => undefined).finally(() => (this.atWork -= 1));
    try {
      const limit = AbortSignal.timeout(STORE_MS);
      const files = await unlessAborted(storing, signal ? AbortSignal.any([signal, limit]) : limit);
      this.outcomes.inc({ outcome: 'kept' }, large.length);
      return files;
    } catch (error) {
      if (!signal?.aborted) this.noteFailure(error, owner, large.length);
      return [];
    }
  }

  private noteFailure(error: unknown, { tenant }: FileOwner, count: number): void {
    const isFull = error instanceof ProblemError && error.status === 413;
    this.outcomes.inc({ outcome: isFull ? 'over_quota' : 'failed' }, count);
    const now = performance.now();
    // A full quota concerns its owner alone, so other owners are not paused.
    if (!isFull) this.pausedUntil = now + PAUSE_MS;
    if (now - this.warnedAt < WARN_EVERY_MS) return;
    this.warnedAt = now;
    this.logger.warn({ err: error, tenant }, 'Large Parts could not be stored as files; they stay in the log');
  }
}

async function* filesOf(large: readonly LargePart[]): AsyncGenerator<ArrivingFile> {
  for (const { part, bytes } of large) yield { ...labelOf(part), content: singleChunk(bytes) };
}

async function* singleChunk(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** Returns the name and media type for a Part's file. An invalid file name stays only in the Part. */
function labelOf({ filename: name, mediaType }: Part): ReturnType<typeof fileLabel> {
  try {
    return fileLabel({ name, mediaType }, 'filename');
  } catch {
    return fileLabel({ mediaType }, 'filename');
  }
}

function isSame(part: Part, { id, size, sha256 }: StoredFile): boolean {
  const said = keptFileOf(part);
  return said !== undefined && said.id === id && said.size === size && said.sha256 === sha256;
}

/** Returns the number of base64 characters that `bytes` bytes take. */
function encodedLength(bytes: number): number {
  return Math.ceil(bytes / 3) * 4;
}
