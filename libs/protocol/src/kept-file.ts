import { isJsonObject, type JsonObject } from './json.js';
import type { Part } from './message.js';

/**
 * The Part metadata key under which a Part says that its bytes were sent as `raw` and lie in the file storage, where its
 * `url` leads. Only what this service wrote there counts.
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

/** True if a Part has anything under `KEPT_FILE`, whoever wrote it. */
export function claimsKeptFile({ metadata }: Part): boolean {
  return metadata !== undefined && Object.hasOwn(metadata, KEPT_FILE);
}

/** Returns what a Part says under `KEPT_FILE`; `undefined` where it says nothing that can be read. */
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

/** Returns a Part that names a kept file as it was sent: with its bytes, in base64. */
export function withBytes(part: Part, raw: string): Part {
  const { url: _url, ...rest } = withoutKeptFile(part);
  return { ...rest, raw };
}
