import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { parseBytes, parseDuration } from './quantities.js';

/** Server that speaks the S3 protocol, and a bucket there. */
export interface S3Config {
  /** Base URL without a trailing slash. */
  readonly endpoint: string;
  readonly bucket: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** Limits, retention and location of uploaded files. */
export interface FilesConfig {
  /** Maximum bytes of one file. */
  readonly fileBytes: number;
  /** Maximum bytes that one owner stores: each content once, plus 4 KiB for each file. */
  readonly ownerBytes: number;
  /** Milliseconds that a file is kept after its upload; absent: until it is deleted. */
  readonly retentionMs?: number;
  /** True if all replicas share the folder `DATA_DIR/files`. */
  readonly isFolderShared: boolean;
  /** False if `DATA_DIR` is lost with the process: files are then refused unless an S3 server stores them. */
  readonly isFolderDurable: boolean;
  /** Minimum bytes of a `raw` Part that is stored as a file; absent: all Parts stay in the logs of Tasks. */
  readonly offloadBytes?: number;
  /** S3 server that stores the files. Absent: files are stored in `DATA_DIR/files`. */
  readonly s3?: S3Config;
}

const GIBIBYTE = 1024 ** 3;
/** Maximum of FILE_LIMIT: the largest object that an S3 server accepts in one request. */
const MOST_FILE_BYTES = 5 * GIBIBYTE;
const MOST_OWNER_BYTES = 1024 ** 5;
/** Minimum of FILES_OFFLOAD: below this size, the additional row for a file costs more than it saves in the log. */
const LEAST_OFFLOAD_BYTES = 16 * 1024;
const LEAST_RETENTION_MS = 60_000;
const DAY_MS = 86_400_000;
const MOST_RETENTION_MS = 36_500 * DAY_MS;
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;

const fileLimit = z
  .string()
  .transform((text) => parseBytes(text) ?? 0)
  .refine((bytes) => bytes >= 1024 && bytes <= MOST_FILE_BYTES, 'must be a size such as 100mb, from 1kb to 5gb');

const quota = z
  .string()
  .transform((text) => parseBytes(text) ?? 0)
  .refine((bytes) => bytes >= 1024 && bytes <= MOST_OWNER_BYTES, 'must be a size such as 10gb, from 1kb to 1048576gb');

const retention = z
  .string()
  .transform((text) => parseDuration(text) ?? -1)
  .refine(
    (ms) => ms >= LEAST_RETENTION_MS && ms <= MOST_RETENTION_MS,
    'must be a duration such as 30d or 12h, from one minute to 36500d',
  );

const offload = z
  .string()
  .transform((text) => (text.trim().toLowerCase() === 'off' ? 0 : (parseBytes(text) ?? -1)))
  .refine(
    (bytes) => bytes === 0 || (bytes >= LEAST_OFFLOAD_BYTES && bytes <= MOST_FILE_BYTES),
    'must be off, or a size such as 256kb, from 16kb to 5gb',
  );

const endpoint = z
  .string()
  .refine(isEndpoint, 'must be an http:// or https:// URL without path, query, fragment or credentials')
  .transform((text) => (URL.canParse(text) ? new URL(text).origin : text));

/**
 * Environment variables of `FilesConfig` with literal values; `readS3Keys` reads the files that the other variables
 * name.
 */
export const FILES_VARIABLES = {
  FILE_LIMIT: fileLimit.default(100 * 1024 ** 2),
  FILES_QUOTA: quota.default(10 * GIBIBYTE),
  FILE_RETENTION: retention.optional(),
  FILES_DIR_SHARED: z.enum(['true', 'false'], 'must be true or false').default('false'),
  FILES_DIR_DURABLE: z.enum(['true', 'false'], 'must be true or false').default('true'),
  FILES_OFFLOAD: offload.default(0),
  FILES_S3_ENDPOINT: endpoint.optional(),
  FILES_S3_BUCKET: z.string().regex(BUCKET, 'must be 3 to 63 lower-case letters, digits, dots and hyphens').optional(),
  FILES_S3_REGION: z
    .string()
    .regex(/^[a-z0-9-]{1,64}$/, 'must be lower-case letters, digits and hyphens, such as eu-central-1')
    .default('us-east-1'),
};

interface FilesValues {
  FILE_LIMIT: number;
  FILES_QUOTA: number;
  FILE_RETENTION?: number;
  FILES_DIR_SHARED: 'true' | 'false';
  FILES_DIR_DURABLE: 'true' | 'false';
  FILES_OFFLOAD: number;
  FILES_S3_ENDPOINT?: string;
  FILES_S3_BUCKET?: string;
  FILES_S3_REGION: string;
}

/** Credentials of an S3 server, read from the files that the environment names. */
export interface S3Keys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

const NEEDED_BY_S3 = ['FILES_S3_BUCKET', 'FILES_S3_ACCESS_KEY_FILE', 'FILES_S3_SECRET_KEY_FILE'];

/**
 * Reads the keys of the S3 server from the files that `FILES_S3_ACCESS_KEY_FILE` and `FILES_S3_SECRET_KEY_FILE` name.
 * @returns no keys without `FILES_S3_ENDPOINT`; `problems` has one line per bad variable, never with a value
 */
export function readS3Keys(env: Readonly<Record<string, string | undefined>>): { keys?: S3Keys; problems: string[] } {
  if (env['FILES_S3_ENDPOINT'] === undefined) {
    const alone = NEEDED_BY_S3.filter((name) => env[name] !== undefined);
    return { problems: alone.map((name) => `${name}: needs FILES_S3_ENDPOINT`) };
  }
  const missing = NEEDED_BY_S3.filter((name) => env[name] === undefined);
  if (missing.length > 0) return { problems: missing.map((name) => `${name}: FILES_S3_ENDPOINT needs it`) };
  const accessKeyId = keyIn(env['FILES_S3_ACCESS_KEY_FILE']!);
  const secretAccessKey = keyIn(env['FILES_S3_SECRET_KEY_FILE']!);
  if (accessKeyId !== undefined && secretAccessKey !== undefined)
    return { keys: { accessKeyId, secretAccessKey }, problems: [] };
  return {
    problems: [
      ...(accessKeyId === undefined ? [`FILES_S3_ACCESS_KEY_FILE: ${NO_KEY}`] : []),
      ...(secretAccessKey === undefined ? [`FILES_S3_SECRET_KEY_FILE: ${NO_KEY}`] : []),
    ],
  };
}

const NO_KEY = 'must name a readable file with a key in one line';

/** Returns the configuration of files from the variables and the keys of the S3 server. */
export function filesOf(values: FilesValues, keys: S3Keys | undefined): FilesConfig {
  const { FILES_S3_ENDPOINT: endpoint, FILES_S3_BUCKET: bucket, FILES_S3_REGION: region } = values;
  return {
    fileBytes: values.FILE_LIMIT,
    ownerBytes: values.FILES_QUOTA,
    retentionMs: values.FILE_RETENTION,
    isFolderShared: values.FILES_DIR_SHARED === 'true',
    isFolderDurable: values.FILES_DIR_DURABLE === 'true',
    ...(values.FILES_OFFLOAD > 0 && { offloadBytes: values.FILES_OFFLOAD }),
    ...(keys !== undefined &&
      endpoint !== undefined &&
      bucket !== undefined && { s3: { endpoint, bucket, region, ...keys } }),
  };
}

function keyIn(path: string): string | undefined {
  try {
    const text = readFileSync(path, 'utf8').trim();
    return /^[\x21-\x7e]{1,256}$/.test(text) ? text : undefined;
  } catch {
    return undefined;
  }
}

function isEndpoint(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, pathname, search, hash, username, password } = new URL(text);
  return /^https?:$/.test(protocol) && pathname === '/' && `${search}${hash}${username}${password}` === '';
}
