import type { Part } from '#libs/protocol';

/** Tenant and owner of a call. */
export interface FileReader {
  readonly tenant: string;
  readonly owner: string;
}

/** Opens files of this service to remote agents, which have no key for them. */
export abstract class OutgoingFiles {
  /**
   * Replaces the URLs of the reader's own files with signed addresses. Other Parts stay unchanged: callers cannot open
   * files of others. Waits for an unreachable database.
   * @param forMs milliseconds for which the addresses are valid
   */
  abstract openFiles(parts: readonly Part[], reader: FileReader, forMs: number, signal: AbortSignal): Promise<Part[]>;
}
