import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { writePrivate } from './private-file.js';

/** Lowest port, below the ranges of local ports for outgoing connections, so that no connection takes it by chance. */
const LOWEST = 15_000;
const HIGHEST = 32_000;
const ATTEMPTS = 200;

/** Returns the port stored in the file if it is free, else a free port, which is stored. */
export async function keptPort(file: string): Promise<number> {
  const kept = readPort(file);
  if (kept !== undefined && (await isFree(kept))) return kept;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const port = randomInt(LOWEST, HIGHEST);
    if (!(await isFree(port))) continue;
    keepPort(file, port);
    return port;
  }
  throw new Error(`No free port was found between ${LOWEST} and ${HIGHEST}`);
}

export function keepPort(file: string, port: number): void {
  writePrivate(file, `${port}\n`);
}

function readPort(file: string): number | undefined {
  try {
    const port = Number(readFileSync(file, 'utf8'));
    return Number.isInteger(port) && port > 0 && port < 65_536 ? port : undefined;
  } catch {
    return undefined;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen({ port, host: '127.0.0.1' }, () => probe.close(() => resolve(true)));
  });
}
