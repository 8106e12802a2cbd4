import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * Age after which an upload without a commit counts as ended, so that its contents may be deleted. An upload lasts at
 * most REQUEST_TIMEOUT, which is at most an hour.
 */
const GIVEN_UP_AFTER = '2 hours';

export const NOTE_LEFTOVER = `
  INSERT INTO file_leftover (storage_key, due_at) VALUES ($1, now() + interval '${GIVEN_UP_AFTER}')`;

export const STORED_BYTES = 'SELECT bytes FROM file_account WHERE tenant = $1 AND owner = $2';

/**
 * Creates or locks the row of an owner in `file_account`, so that later statements see what earlier holders of the
 * lock have changed.
 */
export const LOCK_ACCOUNT = `
  INSERT INTO file_account AS account (tenant, owner, bytes) VALUES ($1, $2, 0)
  ON CONFLICT (tenant, owner) DO UPDATE SET bytes = account.bytes`;

/** Inserts a content unless its owner has one with the same digest. Returns the key of the owner's content. */
export const TAKE_CONTENT = `
  INSERT INTO file_content AS content (tenant, owner, sha256, size, storage_key) VALUES ($1, $2, $3, $4, $5)
  ON CONFLICT (tenant, owner, sha256) DO UPDATE SET size = content.size
  RETURNING storage_key`;

export const REPLACE_CONTENT = `
  UPDATE file_content SET storage_key = $4 WHERE tenant = $1 AND owner = $2 AND sha256 = $3`;

export const CLAIM_LEFTOVER = 'DELETE FROM file_leftover WHERE storage_key = $1 AND NOT is_doomed';

export const INSERT_FILE = `
  INSERT INTO file (id, tenant, owner, name, media_type, sha256, size, created_at, expires_at, held_until)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, now() + $10::float8 * interval '1 millisecond')`;

/** Adds bytes to what an owner has stored; changes no row if the sum exceeds the limit. */
export const COUNT_BYTES = `
  UPDATE file_account SET bytes = bytes + $3
  WHERE tenant = $1 AND owner = $2 AND bytes + $3::bigint <= $4::bigint`;

export const CONTENT_KEY = 'SELECT storage_key FROM file_content WHERE tenant = $1 AND owner = $2 AND sha256 = $3';

export const CONTENT_KEYS = `
  SELECT storage_key, size FROM file_content WHERE tenant = $1 AND owner = $2 AND sha256 = ANY($3::text[])`;

export const PAGE = `
  SELECT * FROM file
  WHERE tenant = $1 AND owner = $2
    AND ($3::timestamptz IS NULL OR (created_at, id) < ($3, $4::text))
    AND ($5::text = '' OR strpos(lower(name), lower($5)) > 0)
  ORDER BY created_at DESC, id DESC LIMIT $6`;

/**
 * Locks a file, after waiting for Tasks that are being written and refer to it, so that the next statement sees their
 * references.
 */
export const LOCK_FILE = `
  SELECT held_until > now() AS is_held FROM file WHERE tenant = $1 AND owner = $2 AND id = $3 FOR UPDATE`;

export const USERS = 'SELECT task_id FROM file_use WHERE file_id = $1 ORDER BY task_id DESC LIMIT $2';

export const DELETE_FILE = 'DELETE FROM file WHERE tenant = $1 AND owner = $2 AND id = $3 RETURNING sha256';

export const DELETE_UNUSED_CONTENT = `
  DELETE FROM file_content AS content WHERE tenant = $1 AND owner = $2 AND sha256 = $3
    AND NOT EXISTS (
      SELECT FROM file WHERE file.tenant = content.tenant AND file.owner = content.owner AND file.sha256 = content.sha256)
  RETURNING storage_key, size`;

export const GIVE_BACK_BYTES = `
  UPDATE file_account SET bytes = greatest(bytes - $3::bigint, 0) WHERE tenant = $1 AND owner = $2`;

/**
 * Marks keys for deletion (`is_doomed`): no upload may use their contents any more. A key without a row in
 * `file_leftover` gets one, so that FileUpkeepJob also finds a content that is stored later.
 */
export const NOTE_DOOMED = `
  INSERT INTO file_leftover (storage_key, due_at, is_doomed) SELECT key, now(), true FROM unnest($1::text[]) AS key
  ON CONFLICT (storage_key) DO UPDATE SET is_doomed = true, due_at = now()`;

/** Reads expired files in pages; skips files that Tasks reference. */
export const EXPIRED = `
  SELECT tenant, owner, id, expires_at FROM file
  WHERE expires_at < now() AND (expires_at, id) > ($2::timestamptz, $3::text)
    AND NOT EXISTS (SELECT FROM file_use WHERE file_use.file_id = file.id)
  ORDER BY expires_at, id LIMIT $1`;

/**
 * Reads one page of the keys of leftovers (contents without a row, see FileStore) that may be deleted now. The page
 * begins after the key `$2`. So if a content cannot be deleted, the job still reaches the leftovers after it.
 */
export const DUE = `
  SELECT storage_key FROM file_leftover WHERE due_at <= now() AND storage_key > $2 ORDER BY storage_key LIMIT $1`;

export const DOOM = `
  UPDATE file_leftover SET is_doomed = true, due_at = least(due_at, now())
  WHERE storage_key = ANY($1::text[]) RETURNING storage_key`;

export const FORGET_LEFTOVERS = 'DELETE FROM file_leftover WHERE storage_key = ANY($1::text[]) AND is_doomed';

@Entity('file')
export class FileRow {
  @PrimaryColumn('text') id!: string;
  @Column('text') tenant!: string;
  @Column('text') owner!: string;
  @Column('text') name!: string;
  @Column('text') media_type!: string;
  @Column('text') sha256!: string;
  /** Integer, which PostgreSQL's driver returns as text. */
  @Column('bigint') size!: string;
  @Column('timestamptz') created_at!: Date;
  @Column('timestamptz', { nullable: true }) expires_at!: Date | null;
  @Column('timestamptz', { nullable: true }) held_until!: Date | null;
}
