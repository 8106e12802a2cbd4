import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { PoolClient } from 'pg';
import { In, type Repository } from 'typeorm';
import { Database, inTransaction } from '#libs/postgres';
import { AppConfig } from '#libs/service';
import { FileHeld, FileInUse, quotaExceeded, SHOWN_TASKS, UploadGivenUp } from './file-errors.js';
import {
  CLAIM_LEFTOVER,
  CONTENT_KEY,
  CONTENT_KEYS,
  COUNT_BYTES,
  DELETE_FILE,
  DELETE_UNUSED_CONTENT,
  DOOM,
  DUE,
  EXPIRED,
  FileRow,
  FORGET_LEFTOVERS,
  GIVE_BACK_BYTES,
  INSERT_FILE,
  LOCK_ACCOUNT,
  LOCK_FILE,
  NOTE_DOOMED,
  NOTE_LEFTOVER,
  PAGE,
  REPLACE_CONTENT,
  STORED_BYTES,
  TAKE_CONTENT,
  USERS,
} from './file-statements.js';
import { type FileDraft, type FileOwner, newFileId, type StoredFile } from './stored-file.js';

/**
 * Bytes that each file counts toward the quota, in addition to its content, since the row of even an empty file takes
 * room.
 */
const ROW_BYTES = 4096;

/** Terms on which files of an upload are kept. */
export interface FileTerms {
  /** Milliseconds until the files may be deleted, unless Tasks refer to them; absent: FILE_RETENTION. */
  readonly keptMs?: number;
  /** Milliseconds that the owner may not delete the files, since a Task is about to refer to them; absent: 0. */
  readonly heldMs?: number;
}

/** Selection of an owner's files for one page of a list. */
export interface FilePage {
  limit: number;
  /** Last file of the previous page; absent: the first page. */
  before?: { createdAt: Date; id: string };
  /** Text that names contain, in any case; absent or '': all files. */
  search?: string;
}

/**
 * Stores the rows of files, and of the contents behind them.
 *
 * - Leftover: before anything of a content is stored, its key gets a row in `file_leftover`. The row is removed when
 *   a row of `file_content` refers to the content. So what a crash leaves behind is found there, and is deleted after
 *   a time.
 * - Doomed: before a content is deleted, its leftover is marked as doomed, so that an upload which ends later cannot
 *   use the content.
 * - Changes to the files of one owner wait for each other, by the lock of the owner's row in `file_account`. So no
 *   file can begin to use a content while the content's last file is deleted.
 */
@Injectable()
export class FileStore {
  constructor(
    private readonly database: Database,
    private readonly config: AppConfig,
    @InjectRepository(FileRow) private readonly rows: Repository<FileRow>,
  ) {}

  /**
   * Records the key of a content that is about to be stored, as a leftover: if the upload ends without a commit,
   * FileUpkeepJob deletes the content.
   */
  async noteLeftover(storageKey: string): Promise<void> {
    await this.database.pool.query(NOTE_LEFTOVER, [storageKey]);
  }

  /**
   * Returns the number of bytes that count toward the quota of an owner: each content once, plus 4 KiB for each file.
   */
  async storedBytes({ tenant, owner }: FileOwner): Promise<number> {
    const { rows } = await this.database.pool.query<{ bytes: string }>(STORED_BYTES, [tenant, owner]);
    return Number(rows[0]?.bytes ?? 0);
  }

  /** Returns the contents that the owner already has among those with the given SHA-256 digests. */
  async knownContents({ tenant, owner }: FileOwner, digests: readonly string[]): Promise<KnownContent[]> {
    const { rows } = await this.database.pool.query<ContentRow>(CONTENT_KEYS, [tenant, owner, digests]);
    return rows.map(({ storage_key: storageKey, size }) => ({ storageKey, size: Number(size) }));
  }

  /**
   * Commits the files of one upload, all or none. If the owner already has one of the contents, the files use the
   * existing content, and the key of the new copy stays a leftover.
   * @param unreadable keys of existing contents that cannot be read. The new copies replace these contents in all files
   *   that use them.
   * @param terms how long the files are kept; absent: the defaults
   * @throws ProblemError 413 above FILES_QUOTA; 503 if the contents were deleted in the meantime, because the upload
   *   took too long
   */
  async commitFiles(
    owner: FileOwner,
    drafts: readonly FileDraft[],
    unreadable: ReadonlySet<string>,
    { keptMs = this.config.files.retentionMs, heldMs }: FileTerms = {},
  ): Promise<StoredFile[]> {
    const createdAt = new Date();
    const expiresAt = keptMs === undefined ? undefined : new Date(createdAt.getTime() + keptMs);
    const files = drafts.map((draft): StoredFile & FileDraft => ({
      ...draft,
      ...owner,
      id: newFileId(createdAt),
      createdAt,
      ...(expiresAt !== undefined && { expiresAt }),
    }));
    try {
      await inTransaction(this.database, (session) =>
        this.insertFiles(session, files, { ...owner, unreadable, heldMs }),
      );
    } catch (error) {
      // The upkeep has deleted the contents that existed then; it does not know those stored later.
      if (error instanceof UploadGivenUp) await this.noteDoomed(this.database.pool, keysOf(files));
      throw error;
    }
    return files.map(({ storageKey: _key, ...file }) => file);
  }

  async get({ tenant, owner }: FileOwner, id: string): Promise<StoredFile | undefined> {
    const row = await this.rows.findOneBy({ tenant, owner, id });
    return row ? toStoredFile(row) : undefined;
  }

  /** Returns the files of the owner among the given ids, by id. Uses one query. */
  async findAmong({ tenant, owner }: FileOwner, ids: readonly string[]): Promise<Map<string, StoredFile>> {
    if (ids.length === 0) return new Map();
    const rows = await this.rows.findBy({ tenant, owner, id: In([...new Set(ids)]) });
    return new Map(rows.map((row) => [row.id, toStoredFile(row)]));
  }

  /** Returns a file of any owner; `undefined` if there is none. Only for readers with a signed address. */
  async findById(id: string): Promise<StoredFile | undefined> {
    const row = await this.rows.findOneBy({ id });
    return row ? toStoredFile(row) : undefined;
  }

  /** Returns the key of a file's content; `undefined` if the content was deleted with its last file. */
  async storageKey({ tenant, owner, sha256 }: StoredFile): Promise<string | undefined> {
    const { rows } = await this.database.pool.query<{ storage_key: string }>(CONTENT_KEY, [tenant, owner, sha256]);
    return rows[0]?.storage_key;
  }

  /** Lists files of an owner, newest first. @throws ReadEnded if the read takes too long */
  async listFiles(owner: FileOwner, { limit, before, search }: FilePage): Promise<StoredFile[]> {
    const values = [owner.tenant, owner.owner, before?.createdAt ?? null, before?.id ?? null, search ?? '', limit];
    const { rows } = await this.database.reads.queryInTurn<FileRow>(owner, { text: PAGE, values });
    return rows.map(toStoredFile);
  }

  /**
   * Deletes a file that no Task references. If a Task begins to reference the file during the deletion, the last check
   * before the commit finds the reference, and the deletion is rolled back.
   * @returns the key of the file's content if no other file uses the content, which must then be deleted; `null` if
   *   other files use the content, `undefined` if there is no such file
   * @throws ProblemError 409 if Tasks of the owner reference the file, or a Task is about to reference the file
   */
  async delete(file: FileOwner, id: string): Promise<string | null | undefined> {
    if ((await this.get(file, id)) === undefined) return undefined;
    // Check without a lock first: locking a file in use would delay the journal.
    await assertUnused(this.database.pool, id);
    return inTransaction(this.database, (session) => this.deleteUnused(session, file, id));
  }

  /**
   * Lists expired files that no Task references, the earliest expired first; `after` is the last file of the previous
   * page.
   */
  async listExpired(limit: number, after?: ExpiredFile): Promise<ExpiredFile[]> {
    const from = [after?.expires_at ?? '-infinity', after?.id ?? ''];
    const { rows } = await this.database.pool.query<ExpiredFile>(EXPIRED, [limit, ...from]);
    return rows;
  }

  /**
   * Lists, in order, the keys of leftovers that may be deleted now, because their uploads began more than two hours
   * ago or they are doomed. `after` is the last key of the previous page.
   */
  async dueLeftovers(limit: number, after: string): Promise<string[]> {
    const { rows } = await this.database.pool.query<{ storage_key: string }>(DUE, [limit, after]);
    return rows.map(({ storage_key }) => storage_key);
  }

  /**
   * Marks the given keys that are still leftovers for deletion ("doomed", see FileStore), and returns these keys: no
   * file uses their contents, now or later.
   */
  async doomLeftovers(storageKeys: readonly string[]): Promise<string[]> {
    const { rows } = await this.database.pool.query<{ storage_key: string }>(DOOM, [storageKeys]);
    return rows.map(({ storage_key }) => storage_key);
  }

  /** Deletes the rows in `file_leftover` of doomed keys whose contents have been deleted. */
  async forgetLeftovers(storageKeys: readonly string[]): Promise<void> {
    await this.database.pool.query(FORGET_LEFTOVERS, [storageKeys]);
  }

  private async deleteUnused(
    session: PoolClient,
    { tenant, owner }: FileOwner,
    id: string,
  ): Promise<string | null | undefined> {
    const locked = await session.query<{ is_held: boolean | null }>(LOCK_FILE, [tenant, owner, id]);
    if (!locked.rows[0]) return undefined;
    await assertUnused(session, id);
    if (locked.rows[0].is_held) throw new FileHeld();
    await session.query(LOCK_ACCOUNT, [tenant, owner]);
    const { rows: deleted } = await session.query<{ sha256: string }>(DELETE_FILE, [tenant, owner, id]);
    if (!deleted[0]) return undefined;
    const { rows } = await session.query<ContentRow>(DELETE_UNUSED_CONTENT, [tenant, owner, deleted[0].sha256]);
    const [content] = rows;
    await session.query(GIVE_BACK_BYTES, [tenant, owner, ROW_BYTES + Number(content?.size ?? 0)]);
    if (content) await this.noteDoomed(session, [content.storage_key]);
    await assertUnused(session, id);
    return content?.storage_key ?? null;
  }

  private async noteDoomed(session: Pick<PoolClient, 'query'>, storageKeys: readonly string[]): Promise<void> {
    await session.query(NOTE_DOOMED, [storageKeys]);
  }

  private async insertFiles(
    session: PoolClient,
    files: readonly (StoredFile & FileDraft)[],
    { tenant, owner, unreadable, heldMs }: FileOwner & { unreadable: ReadonlySet<string>; heldMs: number | undefined },
  ): Promise<void> {
    await session.query(LOCK_ACCOUNT, [tenant, owner]);
    let added = files.length * ROW_BYTES;
    for (const file of files) {
      if (await takeContent(session, file, unreadable)) added += file.size;
      const { id, name, mediaType, sha256, size, createdAt, expiresAt } = file;
      const row = [id, tenant, owner, name, mediaType, sha256, size, createdAt, expiresAt ?? null, heldMs ?? null];
      await session.query(INSERT_FILE, row);
    }
    const { ownerBytes } = this.config.files;
    const { rowCount } = await session.query(COUNT_BYTES, [tenant, owner, added, ownerBytes]);
    if (rowCount !== 1) throw quotaExceeded(ownerBytes);
  }
}

/**
 * Inserts a content for its owner, unless the owner has one with the same digest.
 * @param unreadable keys of existing contents that cannot be read, which the new content replaces
 * @returns false if the owner had the content already, possibly under another key
 * @throws UploadGivenUp if the new content is already marked for deletion, because the upload took too long
 */
async function takeContent(
  session: Pick<PoolClient, 'query'>,
  { tenant, owner, sha256, size, storageKey }: StoredFile & FileDraft,
  unreadable: ReadonlySet<string>,
): Promise<boolean> {
  const content = [tenant, owner, sha256, size, storageKey];
  const { rows } = await session.query<{ storage_key: string }>(TAKE_CONTENT, content);
  const known = rows[0]?.storage_key ?? '';
  if (known !== storageKey && !unreadable.has(known)) return false;
  const { rowCount } = await session.query(CLAIM_LEFTOVER, [storageKey]);
  if (rowCount !== 1) throw new UploadGivenUp();
  if (known === storageKey) return true;
  await session.query(REPLACE_CONTENT, [tenant, owner, sha256, storageKey]);
  // Readers may still use its key.
  await session.query(NOTE_LEFTOVER, [known]);
  return false;
}

/** Asserts that no Task references the file. @throws ProblemError 409 */
async function assertUnused(session: Pick<PoolClient, 'query'>, id: string): Promise<void> {
  const { rows } = await session.query<{ task_id: string }>(USERS, [id, SHOWN_TASKS + 1]);
  if (rows.length > 0) throw new FileInUse(rows.map(({ task_id }) => task_id));
}

function keysOf(drafts: readonly FileDraft[]): string[] {
  return drafts.map(({ storageKey }) => storageKey);
}

/** File that may be deleted, by its owner and id. */
export interface ExpiredFile extends FileOwner {
  id: string;
  expires_at: Date;
}

/** Existing content of an owner. */
export interface KnownContent {
  readonly storageKey: string;
  /** Size of the file, in bytes. */
  readonly size: number;
}

interface ContentRow {
  storage_key: string;
  size: string;
}

function toStoredFile(row: FileRow): StoredFile {
  const { id, tenant, owner, name, media_type: mediaType, sha256, size, created_at: createdAt } = row;
  return {
    id,
    tenant,
    owner,
    name,
    mediaType,
    sha256,
    size: Number(size),
    createdAt,
    ...(row.expires_at !== null && { expiresAt: row.expires_at }),
  };
}
