import { createHash, randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { FileOwner, StoredContent } from './stored-file.js';

/** Bytes of a content, both ends included: `0 <= first <= last < size`. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/** A content is longer than its reader takes. */
export class ContentTooLong extends Error {
  override readonly name = 'ContentTooLong';

  constructor(readonly limit: number) {
    super(`The content is longer than ${limit} bytes`);
  }
}

/** The storage has no content under a key, or cannot be reached: an operator has to look. */
export class ContentUnavailable extends Error {
  override readonly name = 'ContentUnavailable';
}

/**
 * Keeps contents of files under keys that it made. A key is written once and never changes its content.
 * Implementations: `FolderStorage`, `S3Storage`.
 */
export abstract class FileStorage {
  /** Returns a new key for a content of an owner. @throws ContentUnavailable */
  abstract newKey(owner: FileOwner): Promise<string>;

  /**
   * Stores a content. When the promise resolves the content is whole, and survives a crash of this machine.
   * A rejection leaves nothing under the key, or what `delete` removes.
   * @param limit bytes
   * @throws ContentTooLong beyond the limit; ContentUnavailable where the storage cannot be reached
   */
  abstract put(key: string, content: AsyncIterable<Uint8Array>, limit: number): Promise<StoredContent>;

  /**
   * Opens a content, or a range of it. A failure in the middle is an error of the stream.
   * @throws ContentUnavailable
   */
  abstract get(key: string, range?: ByteRange): Promise<Readable>;

  /**
   * Removes a content; one that is not there counts as removed.
   * @returns false where the key is of a place that this storage does not reach: its content may still be there
   * @throws ContentUnavailable
   */
  abstract delete(key: string): Promise<boolean>;

  /** Why nothing can be stored at the moment, as one sentence for callers; `undefined` where it can. */
  abstract refusal(): Promise<string | undefined>;
}

/** Place of contents on an S3 server that a version stored whose keys did not tell the installation. */
export const S3_PLACE = 's3';

/** Form of the keys: the place, the digest of the owner, and an id of the content. */
const STORAGE_KEY = /^(s3|[\da-f]{8})\/[\da-f]{32}\/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

const OWNER_DIGITS = 32;

/**
 * Returns a new key. Keys of one owner in one place begin with the same digits, which do not tell the owner's name.
 * @param place eight hexadecimal digits, or `S3_PLACE`
 */
export function newStorageKey(place: string, { tenant, owner }: FileOwner): string {
  const digest = createHash('sha256').update(`${tenant.length}:${tenant}${owner}`).digest('hex');
  return `${place}/${digest.slice(0, OWNER_DIGITS)}/${randomUUID()}`;
}

/** Returns the place of a key. @throws RangeError for a text that `newStorageKey` cannot have made */
export function placeOfKey(key: string): string {
  if (!STORAGE_KEY.test(key)) throw new RangeError('This is no key of a content');
  return key.slice(0, key.indexOf('/'));
}
