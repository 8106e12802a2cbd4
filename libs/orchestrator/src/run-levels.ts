import { isJsonObject, type JsonValue } from '#libs/protocol';
import { innerNodes } from './named-workflows.js';
import type { ReadWorkflows } from './saved-workflows.js';

/** So many runs may lie in each other below the first. */
export const DEEPEST_RUN = 10;

/** So many workflows are looked into for how deep their runs lie. */
const MOST_READ = 1_000;

/** How many runs lie in each other, which follows from definitions: a saved one names revisions. */
export class RunLevels {
  private readonly known = new Map<string, number>();

  constructor(private readonly workflows: ReadWorkflows) {}

  /** Below a run of a saved workflow; 0 where that is not there, or in a circle that leads back to it. */
  async below(workflow: string, revision: string | undefined): Promise<number> {
    const key = `${workflow}@${revision ?? ''}`;
    const known = this.known.get(key);
    if (known !== undefined || this.known.size >= MOST_READ) return known ?? 0;
    this.known.set(key, 0);
    const found = await this.workflows.get(workflow, revision);
    const levels = found ? await this.of(found.definition.nodes as unknown as JsonValue[]) : 0;
    this.known.set(key, levels);
    return levels;
  }

  private async of(nodes: readonly JsonValue[]): Promise<number> {
    let deepest = 0;
    for (const node of nodes) deepest = Math.max(deepest, await this.ofNode(node));
    return deepest;
  }

  private async ofNode(node: JsonValue): Promise<number> {
    if (!isJsonObject(node) || node['type'] !== 'workflow' || !isJsonObject(node['config'])) return 0;
    const { workflow, revision, body } = node['config'];
    if (typeof workflow !== 'string') return 1 + (await this.of(innerNodes(body)));
    return 1 + (await this.below(workflow, typeof revision === 'string' ? revision : undefined));
  }
}
