import { type JsonDifference, jsonDifferences, type JsonObject } from '#libs/protocol';
import type { CardConfig } from '#libs/service';
import { type McpToolDefinition, toolHash } from './tool-definition.js';

/** Difference of one tool from its pin. */
export interface ToolChange {
  tool: string;
  kind: 'added' | 'removed' | 'changed';
  /** True if the tool may not be called until the change is accepted. */
  blocked: boolean;
  /** Differences of a changed tool; empty for an added or removed one. */
  differences: JsonDifference[];
}

/** Known tool, and whether the policy blocks it. */
export interface KnownTool {
  definition: McpToolDefinition;
  blocked: boolean;
}

const MOST_DIFFERENCES = 100;

/** Returns the listed tools. Under the policy `block`, tools that differ from their pins are blocked. */
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

/** Returns the changes since the pin, one for each tool. */
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
