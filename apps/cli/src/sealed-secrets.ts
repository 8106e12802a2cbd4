import { SecretBox, sqlState } from '#libs/postgres';
import type { ServiceDatabase } from './service-database.js';

/** Number of secrets by the key that opens them. */
export interface SealedSecrets {
  /** Opened by `CREDENTIALS_KEY`. */
  withKey: number;
  /** Opened by the key in the same database. */
  withDatabase: number;
  /** Opened by no known key. */
  unreadable: number;
}

/** Counts the secrets in a service's database of any version. */
export async function sealedSecrets({ client, credentialsKeys }: ServiceDatabase): Promise<SealedSecrets> {
  const readRows = async <T extends object>(sql: string): Promise<T[]> => {
    try {
      return (await client.query<T>(sql)).rows;
    } catch (error) {
      if (NOT_YET.has(sqlState(error) ?? '')) return [];
      throw error;
    }
  };
  const keys = await readRows<{ value: Buffer }>(`SELECT value FROM service_secret WHERE name = 'secrets'`);
  const keyMarks = (given: readonly Buffer[]): string[] => given.map((key) => new SecretBox([key]).mark);
  const [own, beside] = [keyMarks(credentialsKeys), keyMarks(keys.map(({ value }) => value))];
  const found: SealedSecrets = { withKey: 0, withDatabase: 0, unreadable: 0 };
  for (const sql of SEALED) {
    for (const { mark, n } of await readRows<{ mark: string; n: number }>(sql)) {
      if (own.includes(mark)) found.withKey += n;
      else if (beside.includes(mark)) found.withDatabase += n;
      else found.unreadable += n;
    }
  }
  return found;
}

/** SQL states of a missing table or column, which an earlier version lacks. */
const NOT_YET: ReadonlySet<string> = new Set(['42P01', '42703']);

/** Statements that count the secrets by key. */
const SEALED = [
  ['credential', 'secret', 'true'],
  ['push_config', 'secrets', 'true'],
  ['signing_key', 'sealed_private_key', 'signs'],
].map(
  ([table, column, counts]) => `
    SELECT substring(${column} from '^[^.]*[.][^.]*[.]') AS mark, count(*)::int AS n
    FROM ${table} WHERE ${column} IS NOT NULL AND ${counts} GROUP BY 1`,
);
