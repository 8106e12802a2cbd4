import { Injectable, Logger } from '@nestjs/common';
import { type HeldParts, PartKeeper, type PartRestorer } from '#libs/executor';
import { ProblemError, ServiceAddress } from '#libs/http';
import { retryWhileDatabaseDown } from '#libs/postgres';
import { claimsKeptFile, keptFileOf, type Part, withBytes, withKeptFile, withoutKeptFile } from '#libs/protocol';
import { AppConfig, type ContentRoom, ContentRooms, isLoopbackHost, Metrics } from '#libs/service';
import { type ArrivingFile, FileContents } from './file-contents.js';
import { fileLabel } from './file-label.js';
import { FileStore } from './file-store.js';
import { OwnFiles } from './own-files.js';
import { type FileOwner, FILE_ID, type StoredFile } from './stored-file.js';
import { readThroughOutage } from './storage-outage.js';

/** Milliseconds for which a stored file waits for the Task that references it: a commit may be delayed for long. */
const UNNAMED_MS = 24 * 60 * 60_000;
/** Milliseconds for which the owner cannot delete the file meanwhile; the Task is recorded sooner, or not at all. */
const HELD_MS = 15 * 60_000;
/** Maximum milliseconds for which a Message or an Artifact waits for the storage. */
const STORE_MS = 10_000;
/** Milliseconds without attempts after a failure of the storage. */
const PAUSE_MS = 10_000;
/** Maximum number of Messages and Artifacts that are stored concurrently. */
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

/** Stores large Parts as files of the Task's owner, from FILES_OFFLOAD bytes on. */
@Injectable()
export class KeptParts extends PartKeeper {
  private readonly logger = new Logger(KeptParts.name);
  private readonly outcomes: ReturnType<Metrics['counter']>;
  /** Minimum bytes of a stored Part; `undefined`: no Part is stored. */
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

  /** Finds the files of Parts, and counts the characters of those to read. */
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

  /** Returns Parts with plain URLs in place of the signed addresses that an agent got with its call. */
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

  /** Returns the bytes of a large Part. Base64 that would not round-trip exactly stays in the log. */
  private largePart(part: Part): LargePart | undefined {
    if (!this.isLarge(part)) return undefined;
    const bytes = Buffer.from(part.raw!, 'base64');
    return bytes.toString('base64') === part.raw ? { part, bytes } : undefined;
  }

  /** Removes the marks of Parts that falsely claim to be stored files. */
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

  /** Returns the file that a Part of a log references, under any earlier address of this service. */
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
      const files = await settleWithin(storing, signal);
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
    this.logger.warn({ err: error, tenant }, 'Large Parts could not be kept as files: they stay in the log');
  }
}

async function* filesOf(large: readonly LargePart[]): AsyncGenerator<ArrivingFile> {
  for (const { part, bytes } of large) yield { ...labelOf(part), content: singleChunk(bytes) };
}

async function* singleChunk(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** Returns the label of a Part's file. An invalid file name stays in the Part only. */
function labelOf({ filename: name, mediaType }: Part): ReturnType<typeof fileLabel> {
  try {
    return fileLabel({ name, mediaType }, 'filename');
  } catch {
    return fileLabel({ mediaType }, 'filename');
  }
}

/** Awaits work. @throws Error after a timeout, or once the signal aborts */
async function settleWithin<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  const limit = AbortSignal.timeout(STORE_MS);
  const ends = signal ? AbortSignal.any([signal, limit]) : limit;
  ends.throwIfAborted();
  let rejectEnded: () => void = () => undefined;
  const ended = new Promise<never>((_resolve, reject) => {
    rejectEnded = () => reject(ends.reason as Error);
    ends.addEventListener('abort', rejectEnded, { once: true });
  });
  try {
    return await Promise.race([work, ended]);
  } finally {
    ends.removeEventListener('abort', rejectEnded);
  }
}

function isSame(part: Part, { id, size, sha256 }: StoredFile): boolean {
  const said = keptFileOf(part);
  return said !== undefined && said.id === id && said.size === size && said.sha256 === sha256;
}

/** Returns the number of base64 characters for so many bytes. */
function encodedLength(bytes: number): number {
  return Math.ceil(bytes / 3) * 4;
}
