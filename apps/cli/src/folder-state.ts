import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = '.parley';
const MARK = 'mark';
const SEEN = 'seen.json';

/**
 * State of a folder of workflows, in its subfolder `.parley`.
 * - The mark identifies the folder. It is kept in version control with the files, so that all users apply the same
 *   folder.
 * - The last seen revision of each workflow, by service, belongs to this copy of the folder and is not kept in version
 *   control.
 */
export class FolderState {
  readonly #folder: string;
  readonly #url: string;

  /** @param url URL of the service whose revisions are read and recorded */
  constructor(folder: string, url: string) {
    this.#folder = join(folder, FOLDER);
    this.#url = url;
  }

  /** Returns the folder's mark, a random id, and creates it if necessary. */
  readMark(): string {
    const file = join(this.#folder, MARK);
    if (existsSync(file)) return readFileSync(file, 'utf8').trim();
    const mark = randomUUID();
    this.#writeStateFile(MARK, `${mark}\n`);
    return mark;
  }

  readSeen(): ReadonlyMap<string, string> {
    return new Map(Object.entries(this.#readAllSeen()[this.#url] ?? {}));
  }

  /**
   * Records the last seen revisions of workflows and objects.
   * @param revisions by the workflow's name or the object's key (`objectKey`); `undefined` for a deleted one
   */
  recordSeen(revisions: ReadonlyMap<string, string | undefined>): void {
    const known = new Map(this.readSeen());
    for (const [name, revision] of revisions) {
      if (revision === undefined) known.delete(name);
      else known.set(name, revision);
    }
    const all = {
      ...this.#readAllSeen(),
      [this.#url]: Object.fromEntries([...known].toSorted(([a], [b]) => (a < b ? -1 : 1))),
    };
    this.#writeStateFile(SEEN, `${JSON.stringify(all, null, 2)}\n`);
  }

  #readAllSeen(): Record<string, Record<string, string>> {
    try {
      return JSON.parse(readFileSync(join(this.#folder, SEEN), 'utf8')) as Record<string, Record<string, string>>;
    } catch {
      return {};
    }
  }

  #writeStateFile(name: string, text: string): void {
    mkdirSync(this.#folder, { recursive: true });
    const ignore = join(this.#folder, '.gitignore');
    if (!existsSync(ignore)) writeFileSync(ignore, `${SEEN}\n`);
    writeFileSync(join(this.#folder, name), text);
  }
}
