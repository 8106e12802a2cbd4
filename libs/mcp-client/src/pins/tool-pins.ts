import { Injectable } from '@nestjs/common';
import { Database } from '#libs/postgres';
import { type JsonDifference, jsonDifferences, type JsonObject } from '#libs/protocol';
import type { CardConfig } from '#libs/service';
import { type McpToolDefinition, toolHash, type ToolList } from './tool-listing.js';

/** Pinned tools of a server: the list as it was first seen, or as it was accepted last. */
export interface ToolPin extends ToolList {
  /** List that the server sent last, if it differs from the pinned list. This list waits to be accepted. */
  seen?: ToolList;
  acceptedAt?: Date;
  acceptedBy?: string;
}

/**
 * Stores the pinned tools of each tenant and server, for all replicas.
 * - A caller that changes a pin names the hash of the pinned list that it wants to replace.
 * - Of two concurrent changes, one fails. The caller of the failed change must read the pin again.
 */
@Injectable()
export class ToolPins {
  constructor(private readonly database: Database) {}

  async findPin(tenant: string, server: string): Promise<ToolPin | undefined> {
    const { rows } = await this.database.pool.query<ToolPinRow>(FIND, [tenant, server]);
    return rows[0] && pinOf(rows[0]);
  }

  /**
   * Returns a map with the name of each server of a tenant that has a pin. The value is true if a change of the
   * server's tools waits to be accepted.
   */
  async findChanged(tenant: string): Promise<Map<string, boolean>> {
    const { rows } = await this.database.pool.query<{ server: string; changed: boolean }>(CHANGED, [tenant]);
    return new Map(rows.map((it) => [it.server, it.changed]));
  }

  /** Pins the first list of a server. If the server has a pin already, nothing changes. */
  async pinFirst(tenant: string, server: string, { hash, tools }: ToolList): Promise<void> {
    await this.database.pool.query(PIN, [tenant, server, hash, JSON.stringify(tools)]);
  }

  /**
   * Records a list that differs from the pinned one and waits to be accepted.
   * @returns false if the pin no longer has the hash `pinned`
   */
  async noteSeen(tenant: string, server: string, pinned: string, { hash, tools }: ToolList): Promise<boolean> {
    const values = [tenant, server, pinned, hash, JSON.stringify(tools)];
    return (await this.database.pool.query(NOTE, values)).rowCount === 1;
  }

  /** Replaces the pin with a list. @returns false if the pin no longer has the hash `pinned` */
  async replacePin(tenant: string, server: string, pinned: string, { hash, tools }: ToolList): Promise<boolean> {
    const values = [tenant, server, pinned, hash, JSON.stringify(tools)];
    return (await this.database.pool.query(MOVE, values)).rowCount === 1;
  }

  /**
   * Discards the change that waits to be accepted, as the server lists the pinned tools again. Changes nothing if the
   * pin no longer has the hash `pinned`.
   */
  async seenAgain(tenant: string, server: string, pinned: string): Promise<void> {
    await this.database.pool.query(SEEN_AGAIN, [tenant, server, pinned]);
  }

  /**
   * Accepts the list that waits to be accepted: it becomes the pinned list.
   * @param by owner who accepts the list
   * @returns false if no list with this hash waits
   */
  async acceptSeen(tenant: string, server: string, hash: string, by: string): Promise<boolean> {
    return (await this.database.pool.query(ACCEPT, [tenant, server, hash, by])).rowCount === 1;
  }

  async deletePin(tenant: string, server: string): Promise<void> {
    await this.database.pool.query('DELETE FROM mcp_tool_pin WHERE tenant = $1 AND server = $2', [tenant, server]);
  }
}

interface ToolPinRow {
  hash: string;
  tools: McpToolDefinition[];
  seen_hash: string | null;
  seen_tools: McpToolDefinition[] | null;
  accepted_at: Date | null;
  accepted_by: string | null;
}

function pinOf(row: ToolPinRow): ToolPin {
  const { hash, tools, seen_hash: seenHash, seen_tools: seenTools, accepted_at: at, accepted_by: by } = row;
  return {
    hash,
    tools,
    ...(seenHash !== null && { seen: { hash: seenHash, tools: seenTools ?? [] } }),
    ...(at && { acceptedAt: at }),
    ...(by !== null && { acceptedBy: by }),
  };
}

const FIND = `
  SELECT hash, tools, seen_hash, seen_tools, accepted_at, accepted_by FROM mcp_tool_pin
  WHERE tenant = $1 AND server = $2`;

const CHANGED = 'SELECT server, seen_hash IS NOT NULL AS changed FROM mcp_tool_pin WHERE tenant = $1';

const PIN = `
  INSERT INTO mcp_tool_pin (tenant, server, hash, tools) VALUES ($1, $2, $3, $4) ON CONFLICT (tenant, server) DO NOTHING`;

const NOTE = `
  UPDATE mcp_tool_pin SET seen_hash = $4, seen_tools = $5, changed_at = now()
  WHERE tenant = $1 AND server = $2 AND hash = $3`;

const MOVE = `
  UPDATE mcp_tool_pin SET hash = $4, tools = $5, seen_hash = NULL, seen_tools = NULL, changed_at = now()
  WHERE tenant = $1 AND server = $2 AND hash = $3`;

const SEEN_AGAIN = `
  UPDATE mcp_tool_pin SET seen_hash = NULL, seen_tools = NULL
  WHERE tenant = $1 AND server = $2 AND hash = $3 AND seen_hash IS NOT NULL`;

const ACCEPT = `
  UPDATE mcp_tool_pin SET hash = seen_hash, tools = seen_tools, seen_hash = NULL, seen_tools = NULL,
    accepted_at = now(), accepted_by = $4
  WHERE tenant = $1 AND server = $2 AND seen_hash = $3`;

/** Change of one tool since the pin. */
export interface ToolChange {
  tool: string;
  kind: 'added' | 'removed' | 'changed';
  /** True if the tool may not be called until the change is accepted. */
  blocked: boolean;
  /** Differences of a changed tool, at most 100; empty for an added or removed tool. */
  differences: JsonDifference[];
}

/** Tool as its server listed it last. `blocked` is true if the policy (`MCP_CHANGE_POLICY`) forbids calling it. */
export interface KnownTool {
  definition: McpToolDefinition;
  blocked: boolean;
}

const MOST_DIFFERENCES = 100;

/**
 * Returns the tools as their server listed them last. Under the policy `block`, new tools and tools that differ from
 * the pin are blocked.
 */
export function knownTools(
  pinned: readonly McpToolDefinition[],
  seen: readonly McpToolDefinition[],
  policy: CardConfig['changes'],
): KnownTool[] {
  const hashes = new Map(pinned.map((it) => [it.name, toolHash(it)]));
  return seen.map((definition) => ({
    definition,
    blocked: policy === 'block' && hashes.get(definition.name) !== toolHash(definition),
  }));
}

/** Returns the changes since the pin, one for each added, removed or changed tool. */
export function toolChanges(
  pinned: readonly McpToolDefinition[],
  seen: readonly McpToolDefinition[],
  policy: CardConfig['changes'],
): ToolChange[] {
  const [before, after] = [byName(pinned), byName(seen)];
  const names = [...new Set([...before.keys(), ...after.keys()])].toSorted();
  return names.flatMap((name) => changeOf(name, before.get(name), after.get(name), policy === 'block') ?? []);
}

function changeOf(
  tool: string,
  before: McpToolDefinition | undefined,
  after: McpToolDefinition | undefined,
  blocks: boolean,
): ToolChange | undefined {
  if (after === undefined) return { tool, kind: 'removed', blocked: false, differences: [] };
  if (before === undefined) return { tool, kind: 'added', blocked: blocks, differences: [] };
  const differences = [...jsonDifferences(jsonOf(before), jsonOf(after))];
  if (differences.length === 0) return undefined;
  return { tool, kind: 'changed', blocked: blocks, differences: differences.slice(0, MOST_DIFFERENCES) };
}

function byName(tools: readonly McpToolDefinition[]): Map<string, McpToolDefinition> {
  return new Map(tools.map((it) => [it.name, it]));
}

function jsonOf(tool: McpToolDefinition): JsonObject {
  return tool as unknown as JsonObject;
}
