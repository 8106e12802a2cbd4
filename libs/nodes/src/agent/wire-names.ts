import { createHash } from 'node:crypto';
import { AGENT_TOOL } from '#libs/executor';

const LONGEST = 64;
/** Length of the digest that distinguishes names. */
const DIGEST = 8;
/** Maximum number of digests that fit in a name. */
const ROUNDS = Math.ceil(LONGEST / (DIGEST + 1));

/**
 * Maps the tools of a turn to names for a model: `server__tool` or `agent__name`, with letters, digits, `_` and `-`, at
 * most 64 characters.
 * - A name that already has this form stays.
 * - A name that is too long, or that several tools would share, ends in a digest of the tool's own name.
 * - The names depend on the set of tools alone, not on their order or the process.
 */
export class WireNames {
  private readonly names: ReadonlyMap<string, string>;

  constructor(tools: readonly string[]) {
    this.names = disambiguateNames(new Map(tools.map((tool) => [tool, sanitizeToolName(tool)])));
  }

  /** Returns a tool's name on the wire, also for a tool that the turn does not have. */
  toWireName(tool: string): string {
    return this.names.get(tool) ?? sanitizeToolName(tool);
  }

  /** Returns the tool that a model means by a name; `undefined` if the name is ambiguous. */
  findByWireName(name: string): string | undefined {
    const meant = [...this.names].flatMap(([tool, its]) => (its === name ? [tool] : []));
    if (meant.length > 0) return meant.length === 1 ? meant[0] : undefined;
    return this.names.has(name) && sanitizeToolName(name) !== name ? name : undefined;
  }
}

function sanitizeToolName(tool: string): string {
  const separated = tool.startsWith(AGENT_TOOL) ? tool.replace(':', '__') : tool.replace('/', '__');
  const name = separated.replaceAll(/[^A-Za-z0-9_-]/g, '_');
  return name.length <= LONGEST ? name : withDigest(name, tool);
}

/** Makes names unique. A name with a digest may still collide, so the step repeats. */
function disambiguateNames(names: Map<string, string>): Map<string, string> {
  for (let round = 0; round < ROUNDS && new Set(names.values()).size < names.size; round += 1) {
    const counts = Map.groupBy(names.values(), (name) => name);
    for (const [tool, name] of names) if (counts.get(name)!.length > 1) names.set(tool, withDigest(name, tool));
  }
  return names;
}

function withDigest(name: string, tool: string): string {
  const digest = createHash('sha256').update(tool).digest('hex').slice(0, DIGEST);
  return `${name.slice(0, LONGEST - DIGEST - 1)}_${digest}`;
}
