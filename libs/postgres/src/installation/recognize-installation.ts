import type pg from 'pg';
import { ConfigError } from '#libs/service';
import { adoptionCode, isElsewhere, moveInstallation, readInstallation, readPlace } from './installation.js';
import { KnownInstallations } from './known-installations.js';

export interface RecognitionOptions {
  /** URL of the database; `undefined` for the embedded database, which lies in `dataDir` itself. */
  databaseUrl?: string;
  dataDir: string;
  /** Value of ADOPT_DATABASE. */
  adopted?: string;
  /** Queries that each return a row if the service would call others for work under way. */
  underWay: readonly string[];
  /** Called with a sentence if the database has changed and the service starts nevertheless. */
  onMoved: (sentence: string) => void;
}

/**
 * Checks that the database is still at its installation's place, and that the address still leads to the known
 * installation. Two copies of one database would call the same agents with the same Messages.
 *
 * - A difference stops the start if work is under way. Otherwise nothing can be sent twice.
 * - `ADOPT_DATABASE` with the value named in the refusal adopts this one database, and no other.
 * - A failover, another address and a renamed database are no difference. A physical copy is not detected (see
 *   OPERATIONS).
 *
 * @throws ConfigError with one sentence
 */
export async function recognizeInstallation(pool: pg.Pool, options: RecognitionOptions): Promise<void> {
  const { databaseUrl, adopted } = options;
  const place = await readPlace(pool);
  const installation = await readInstallation(pool, place);
  const known = new KnownInstallations(options.dataDir);
  const expected = databaseUrl === undefined ? undefined : known.findAt(databaseUrl);
  const difference = isElsewhere(installation, place)
    ? ELSEWHERE
    : expected !== undefined && expected !== installation.id
      ? ANOTHER
      : undefined;
  if (difference !== undefined) {
    const sentence = `${databaseUrl === undefined ? 'DATA_DIR' : 'DATABASE_URL'}: ${difference}`;
    const code = adoptionCode(installation, place);
    if (adopted !== code && (await isUnderWay(pool, options.underWay)))
      throw new ConfigError([`${sentence}, and work is under way in it: ${adoptionAdvice(code)}`]);
    options.onMoved(`${sentence}; it is adopted, since ${adopted === code ? 'ADOPT_DATABASE says so' : IDLE}`);
  }
  const isNewlyReported = installation.server === null && place.server !== null;
  if (difference !== undefined || isNewlyReported) await moveInstallation(pool);
  if (databaseUrl !== undefined && expected !== installation.id) known.noteInstallation(databaseUrl, installation.id);
}

const ELSEWHERE =
  'the database is not the one in which its data was served last, but a copy, a restored backup or an upgraded server';
const ANOTHER = 'the database has the data of another installation than the one that DATA_DIR knows at this address';
const IDLE = 'nothing is under way in it';

function adoptionAdvice(code: string): string {
  return (
    'make sure that no service runs on the other one, since both would call the same agents with the same Messages, and ' +
    `start with ADOPT_DATABASE=${code}`
  );
}

async function isUnderWay(pool: pg.Pool, queries: readonly string[]): Promise<boolean> {
  for (const query of queries) {
    const { rows } = await pool.query<{ exists: boolean }>(`SELECT EXISTS (${query})`);
    if (rows[0]!.exists) return true;
  }
  return false;
}
