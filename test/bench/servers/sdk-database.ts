import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { BenchPostgres } from './postgres.ts';

const MIGRATE = join(resolve(import.meta.dirname, '..'), 'node_modules/@a2a-js/sdk/dist/cli/a2a_db.js');

/** Creates a database with the tables of the official SDK, and returns its URL. */
export async function sdkDatabase(postgres: BenchPostgres): Promise<string> {
  const url = await postgres.database('sdk');
  await promisify(execFile)(process.execPath, [MIGRATE, 'upgrade', '--url', url]);
  return url;
}
