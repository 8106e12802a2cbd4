import { Logger } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { SkippedTool } from './tool-listing.js';

const MOST_SERVERS = 1_000;
const SHOWN_TOOLS = 20;

/** Logs the tools that cannot be offered, once for each distinct list of a server. */
export class SkippedLog {
  private readonly logger = new Logger('McpTools');
  /** Last logged text, by tenant and server. */
  private readonly logged = new LRUCache<string, string>({ max: MOST_SERVERS });

  reportSkipped(tenant: string, server: string, skipped: readonly SkippedTool[]): void {
    const tools = skipped.slice(0, SHOWN_TOOLS).map(({ name, reason }) => `"${name}" ${reason}`);
    const key = JSON.stringify([tenant, server]);
    const text = JSON.stringify([skipped.length, tools]);
    if (skipped.length === 0) this.logged.delete(key);
    else if (this.logged.get(key) !== text) {
      this.logged.set(key, text);
      this.logger.warn({ tenant, server, tools, count: skipped.length }, 'Tools of an MCP server cannot be offered');
    }
  }
}
