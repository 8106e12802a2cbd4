import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The installations that services with one `DATA_DIR` found behind addresses of databases: a file for each address. A folder
 * that is not there, or cannot be written, knows none.
 */
export class KnownInstallations {
  private readonly folder: string;

  constructor(private readonly dataDir: string) {
    this.folder = join(dataDir, 'installations');
  }

  /** Returns the id of the installation that was behind the address last; `undefined` if it is not known. */
  at(databaseUrl: string): string | undefined {
    try {
      return readFileSync(this.fileOf(databaseUrl), 'utf8').trim() || undefined;
    } catch {
      return undefined;
    }
  }

  /** Notes the installation behind the address. Makes no `DATA_DIR`: the embedded database alone needs one. */
  learn(databaseUrl: string, id: string): void {
    const file = this.fileOf(databaseUrl);
    const part = `${file}.${process.pid}`;
    try {
      makeFolder(this.folder);
      writeFileSync(part, `${id}\n`, { mode: 0o600 });
      renameSync(part, file);
    } catch {
      // Containers have folders that only read, or none: the database itself still knows where it is.
    }
  }

  private fileOf(databaseUrl: string): string {
    return join(this.folder, createHash('sha256').update(addressOf(databaseUrl)).digest('hex').slice(0, 32));
  }
}

/** Fails where `DATA_DIR` is not there. */
function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** The host, the port and the database of a URL: neither who connects nor how. */
function addressOf(databaseUrl: string): string {
  const { hostname, port, pathname, searchParams } = new URL(databaseUrl);
  return JSON.stringify([hostname, port || '5432', pathname, searchParams.get('host'), searchParams.get('port')]);
}
