import { createHash, randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { FileOwner, StoredContent } from './stored-file.js';

/** Range of a content in bytes, both ends included: `0 <= first <= last < size`. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/** Reports a content that exceeds the size limit of its reader. */
export class ContentTooLong extends Error {
  override readonly name = 'ContentTooLong';

  constructor(readonly limit: number) {
    super(`The content is longer than ${limit} bytes`);
  }
}

/** Reports that a content is missing or its storage unreachable, which an operator must repair. */
export class ContentUnavailable extends Error {
  override readonly name = 'ContentUnavailable';
}

/**
 * Stores contents of files under keys that it creates. A key is written once, and its content never changes.
 * Implementations: `FolderStorage`, `S3Storage`.
 */
export abstract class FileStorage {
  /** Returns a new key for a content of an owner. @throws ContentUnavailable */
  abstract newKey(owner: FileOwner): Promise<string>;

  /**
   * Stores a content. Once the promise resolves, the content is complete, and survives a crash of this machine. A
   * rejection leaves nothing under the key, or something that `delete` removes.
   * @param limit maximum bytes
   * @throws ContentTooLong above the limit; ContentUnavailable if the storage cannot be reached
   */
  abstract put(key: string, content: AsyncIterable<Uint8Array>, limit: number): Promise<StoredContent>;

  /**
   * Opens a content, or a range of it. A later failure is an error of the stream.
   * @throws ContentUnavailable
   */
  abstract get(key: string, range?: ByteRange): Promise<Readable>;

  /**
   * Removes a content. If there is no such content, it counts as removed.
   * @returns false if this storage cannot reach the folder or installation that the key names: the content may still
   * exist in it
   * @throws ContentUnavailable if the storage does not answer
   */
  abstract delete(key: string): Promise<boolean>;

  /**
   * Returns the reason why nothing can be stored, as one sentence for callers; `undefined` if contents can be stored.
   */
  abstract explainRefusal(): Promise<string | undefined>;
}

/**
 * First part of the keys of contents that an earlier version stored on an S3 server. Those keys did not name the
 * installation of the service.
 */
export const S3_PLACE = 's3';

/** Form of the keys: the place (folder or installation), the digest of the owner, and an id of the content. */
const STORAGE_KEY = /^(s3|[\da-f]{8})\/[\da-f]{32}\/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

const OWNER_DIGITS = 32;

/**
 * Returns a new key. Keys of one owner in one place share a prefix, which does not reveal the owner's name.
 * @param place folder or installation: eight hexadecimal digits, or `S3_PLACE`
 */
export function newStorageKey(place: string, { tenant, owner }: FileOwner): string {
  const digest = createHash('sha256').update(`${tenant.length}:${tenant}${owner}`).digest('hex');
  return `${place}/${digest.slice(0, OWNER_DIGITS)}/${randomUUID()}`;
}

/**
 * Returns the place (folder or installation) that a key names.
 * @throws RangeError for a text that `newStorageKey` cannot have created
 */
export function placeOfKey(key: string): string {
  if (!STORAGE_KEY.test(key)) throw new RangeError('This is no key of a content');
  return key.slice(0, key.indexOf('/'));
}
