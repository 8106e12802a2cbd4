import type { Part } from '#libs/protocol';

/** Tenant and owner of a call. */
export interface FileReader {
  readonly tenant: string;
  readonly owner: string;
}

/** Opens files of this service to agents elsewhere, which have no key for them. */
export abstract class OutgoingFiles {
  /**
   * Returns the Parts with signed addresses in place of the URLs of the reader's own files. A Part that names no such file
   * stays as it is: a caller opens no files of others. Waits for a database that is out of reach.
   * @param forMs milliseconds for which the addresses are valid
   */
  abstract opened(parts: readonly Part[], reader: FileReader, forMs: number, signal: AbortSignal): Promise<Part[]>;
}
