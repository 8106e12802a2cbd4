import { type JsonDifference, jsonDifferences, type JsonObject } from '#libs/protocol';
import type { CardConfig } from '#libs/service';
import { type ToolDefinition, toolHash } from './tool-definition.js';

/** What is different about one tool since it was pinned. */
export interface ToolChange {
  tool: string;
  kind: 'added' | 'removed' | 'changed';
  /** Whether the tool may not be called until the change is accepted. */
  blocked: boolean;
  /** Of a tool that has changed. */
  differences: JsonDifference[];
}

/** A tool as it is known, and whether it may be called. */
export interface KnownTool {
  definition: ToolDefinition;
  blocked: boolean;
}

const MOST_DIFFERENCES = 100;

/** The tools that were seen, each by what the policy makes of it where it is not as pinned. */
export function knownTools(
  pinned: readonly ToolDefinition[],
  seen: readonly ToolDefinition[],
  policy: CardConfig['changes'],
): KnownTool[] {
  const hashes = new Map(pinned.map((it) => [it.name, toolHash(it)]));
  return seen.map((definition) => ({
    definition,
    blocked: policy === 'block' && hashes.get(definition.name) !== toolHash(definition),
  }));
}

/** What has changed, tool by tool. */
export function toolChanges(
  pinned: readonly ToolDefinition[],
  seen: readonly ToolDefinition[],
  policy: CardConfig['changes'],
): ToolChange[] {
  const [before, after] = [byName(pinned), byName(seen)];
  const names = [...new Set([...before.keys(), ...after.keys()])].toSorted();
  return names.flatMap((name) => changeOf(name, before.get(name), after.get(name), policy === 'block') ?? []);
}

function changeOf(
  tool: string,
  before: ToolDefinition | undefined,
  after: ToolDefinition | undefined,
  blocks: boolean,
): ToolChange | undefined {
  if (after === undefined) return { tool, kind: 'removed', blocked: false, differences: [] };
  if (before === undefined) return { tool, kind: 'added', blocked: blocks, differences: [] };
  const differences = [...jsonDifferences(jsonOf(before), jsonOf(after))];
  if (differences.length === 0) return undefined;
  return { tool, kind: 'changed', blocked: blocks, differences: differences.slice(0, MOST_DIFFERENCES) };
}

function byName(tools: readonly ToolDefinition[]): Map<string, ToolDefinition> {
  return new Map(tools.map((it) => [it.name, it]));
}

function jsonOf(tool: ToolDefinition): JsonObject {
  return tool as unknown as JsonObject;
}
