import { resolve } from 'node:path';
import { attach } from './attached-process.mjs';

/**
 * Starts a temporary PostgreSQL beside this process, and returns its URL. The server runs under a small supervisor that
 * watches a pipe from this process: when this process ends, even by `kill -9`, the supervisor stops the server and
 * removes its files.
 */
export function startTestPostgres() {
  return attach([resolve(import.meta.dirname, 'postgres-supervisor.mjs')], 'PostgreSQL for the tests');
}
