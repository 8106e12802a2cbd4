import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Installations that services with one `DATA_DIR` found behind database addresses: one file per address. A missing or
 * read-only folder contains none.
 */
export class KnownInstallations {
  private readonly folder: string;

  constructor(private readonly dataDir: string) {
    this.folder = join(dataDir, 'installations');
  }

  /** Returns the id of the last known installation behind the address; `undefined` if there is none. */
  findAt(databaseUrl: string): string | undefined {
    try {
      return readFileSync(this.addressFile(databaseUrl), 'utf8').trim() || undefined;
    } catch {
      return undefined;
    }
  }

  /** Stores the installation behind the address. Does not create `DATA_DIR`: only the embedded database needs one. */
  noteInstallation(databaseUrl: string, id: string): void {
    const file = this.addressFile(databaseUrl);
    const part = `${file}.${process.pid}`;
    try {
      makeFolder(this.folder);
      writeFileSync(part, `${id}\n`, { mode: 0o600 });
      renameSync(part, file);
    } catch {
      // Containers may have a read-only folder, or none: the database itself still records its place.
    }
  }

  private addressFile(databaseUrl: string): string {
    return join(this.folder, createHash('sha256').update(addressOf(databaseUrl)).digest('hex').slice(0, 32));
  }
}

/** Creates a folder; fails if `DATA_DIR` is missing. */
function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** Returns the host, the port and the database of a URL, without user and options. */
function addressOf(databaseUrl: string): string {
  const { hostname, port, pathname, searchParams } = new URL(databaseUrl);
  return JSON.stringify([hostname, port || '5432', pathname, searchParams.get('host'), searchParams.get('port')]);
}
