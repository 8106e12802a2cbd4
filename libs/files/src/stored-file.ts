import { randomBytes } from 'node:crypto';

/** Form of the ids of files: a UUID of version 7 (RFC 9562), which begins with the time. */
export const FILE_ID = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

/** Owner of files. Files of other owners are invisible to a caller. */
export interface FileOwner {
  readonly tenant: string;
  readonly owner: string;
}

/** Name and media type of a file. */
export interface FileLabel {
  /** Name of 1 to 255 bytes of UTF-8 without control characters and path separators. */
  readonly name: string;
  readonly mediaType: string;
}

/** Complete and durable content in a storage. */
export interface StoredContent {
  /** Size of the file, in bytes. */
  readonly size: number;
  /** Digest of the content, hexadecimal. */
  readonly sha256: string;
}

/** File as its owner sees it. */
export interface StoredFile extends FileOwner, FileLabel, StoredContent {
  readonly id: string;
  readonly createdAt: Date;
  /** Earliest time at which the file may be deleted; absent: it does not expire. */
  readonly expiresAt?: Date;
}

/** Content that is stored, for a file that has no row in the database yet. */
export interface FileDraft extends FileLabel, StoredContent {
  readonly storageKey: string;
}

const VARIANT_BITS = 0x3f;
const VARIANT = 0x80;
const VERSION_BITS = 0x0f;
const VERSION = 0x70;

/** Returns a new id, which is greater than all ids of earlier milliseconds. */
export function newFileId(now: Date): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(now.getTime(), 0, 6);
  bytes[6] = (bytes[6]! & VERSION_BITS) | VERSION;
  bytes[8] = (bytes[8]! & VARIANT_BITS) | VARIANT;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
