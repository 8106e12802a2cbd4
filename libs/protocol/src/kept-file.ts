import { isJsonObject, type JsonObject } from './json.js';
import type { Part } from './message.js';

/**
 * Part metadata key that marks a file sent as `raw` and moved to the file storage, at the Part's `url`. Only marks
 * written by this service are trusted.
 */
export const KEPT_FILE = 'parley/file';

/** Value under `KEPT_FILE`. */
export interface KeptFile {
  readonly id: string;
  /** Bytes. */
  readonly size: number;
  /** Digest of the bytes, hexadecimal. */
  readonly sha256: string;
}

/** True if a Part has anything under `KEPT_FILE`, by any author. */
export function claimsKeptFile({ metadata }: Part): boolean {
  return metadata !== undefined && Object.hasOwn(metadata, KEPT_FILE);
}

/** Reads the file under `KEPT_FILE` of a Part; `undefined` if there is none or it is invalid. */
export function keptFileOf({ metadata }: Part): KeptFile | undefined {
  const file = metadata?.[KEPT_FILE];
  if (!isJsonObject(file)) return undefined;
  const { id, size, sha256 } = file;
  if (typeof id !== 'string' || typeof size !== 'number' || typeof sha256 !== 'string') return undefined;
  return { id, size, sha256 };
}

/** Returns a Part with a URL in place of its bytes. */
export function withKeptFile({ raw: _raw, ...part }: Part, url: string, file: KeptFile): Part {
  return { ...part, url, metadata: { ...part.metadata, [KEPT_FILE]: { ...file } } };
}

/** Returns the same Part without anything under `KEPT_FILE`. */
export function withoutKeptFile({ metadata, ...part }: Part): Part {
  const { [KEPT_FILE]: _file, ...rest } = metadata ?? ({} as JsonObject);
  return Object.keys(rest).length === 0 ? part : { ...part, metadata: rest };
}

/** Restores the bytes of a kept file, in base64, in place of its URL. */
export function withBytes(part: Part, raw: string): Part {
  const { url: _url, ...rest } = withoutKeptFile(part);
  return { ...rest, raw };
}
