import { createHash } from 'node:crypto';
import { AGENT_TOOL } from '#libs/executor';

const LONGEST = 64;
/** Characters of what tells apart those that are alike otherwise. */
const DIGEST = 8;
/** After so many digests a name has no room for another one. */
const ROUNDS = Math.ceil(LONGEST / (DIGEST + 1));

/**
 * What the tools of a turn are called on the wire of a model: `server__tool`, or `agent__name`, of letters, digits, `_` and
 * `-`, at most 64.
 * What is such a name already stays. One that is too long, or would be that of several tools, ends in a digest of the
 * tool's own name: the same tools have the same names, in whatever order and whichever process.
 */
export class WireNames {
  private readonly names: ReadonlyMap<string, string>;

  constructor(tools: readonly string[]) {
    this.names = apart(new Map(tools.map((tool) => [tool, alone(tool)])));
  }

  /** A tool's name on the wire, also of one that the turn does not have. */
  of(tool: string): string {
    return this.names.get(tool) ?? alone(tool);
  }

  /** The tool that a model means by a name; a name that several would have means none of them. */
  tool(name: string): string | undefined {
    const meant = [...this.names].flatMap(([tool, its]) => (its === name ? [tool] : []));
    if (meant.length > 0) return meant.length === 1 ? meant[0] : undefined;
    return this.names.has(name) && alone(name) !== name ? name : undefined;
  }
}

function alone(tool: string): string {
  const separated = tool.startsWith(AGENT_TOOL) ? tool.replace(':', '__') : tool.replace('/', '__');
  const name = separated.replaceAll(/[^A-Za-z0-9_-]/g, '_');
  return name.length <= LONGEST ? name : withDigest(name, tool);
}

/** A name with a digest may be another tool's, too: again, until each is alone. */
function apart(names: Map<string, string>): Map<string, string> {
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
