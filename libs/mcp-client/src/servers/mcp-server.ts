import type { McpServerEntry } from '#libs/service';

/** Server that may be called: from the operator's file, or named by a tenant. */
export interface McpServer extends McpServerEntry {
  source: 'file' | 'api';
  /** Time of creation; absent for servers of the file, as is `updatedAt`. */
  createdAt?: Date;
  updatedAt?: Date;
}

export function isProgram({ at }: Pick<McpServer, 'at'>): boolean {
  return 'command' in at;
}
