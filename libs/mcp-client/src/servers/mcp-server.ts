import type { McpServerEntry } from '#libs/service';

/** A server as it is called: one of the operator's file, or one that a tenant named. */
export interface McpServer extends McpServerEntry {
  source: 'file' | 'api';
  /** Absent for those of the file. */
  createdAt?: Date;
  updatedAt?: Date;
}

export function isProgram({ at }: Pick<McpServer, 'at'>): boolean {
  return 'command' in at;
}
