import type { Part } from '#libs/protocol';

/** Who a call is made for. */
export interface FileReader {
  readonly tenant: string;
  readonly owner: string;
}

/** Opens files of this service to agents elsewhere, which have no key for them. */
export abstract class OutgoingFiles {
  /**
   * Returns the Parts with signed addresses in place of the URLs of the reader's own files. A Part that names no such file
   * stays as it is: nobody opens the files of others. Waits for a database that is out of reach.
   * @param forMs milliseconds for which the addresses are valid
   */
  abstract opened(parts: readonly Part[], reader: FileReader, forMs: number, signal: AbortSignal): Promise<Part[]>;
}
