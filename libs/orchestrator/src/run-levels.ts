import { isJsonObject, type JsonValue } from '#libs/protocol';
import { innerNodes } from './named-workflows.js';
import type { ReadWorkflows } from './saved-workflows.js';

/** Largest nesting depth of runs below the first. */
export const DEEPEST_RUN = 10;

/** Number of workflows that are read to determine the nesting depth. */
const MOST_READ = 1_000;

/**
 * Determines how deep the runs of a definition are nested. Saved definitions name revisions, so the depth is constant.
 */
export class NestingDepth {
  private readonly known = new Map<string, number>();

  constructor(private readonly workflows: ReadWorkflows) {}

  /** Returns the depth below a run of a saved workflow; 0 if the workflow does not exist, or runs itself. */
  async countBelow(workflow: string, revision: string | undefined): Promise<number> {
    const key = `${workflow}@${revision ?? ''}`;
    const known = this.known.get(key);
    if (known !== undefined || this.known.size >= MOST_READ) return known ?? 0;
    this.known.set(key, 0);
    const found = await this.workflows.get(workflow, revision);
    const levels = found ? await this.deepestOf(found.definition.nodes as unknown as JsonValue[]) : 0;
    this.known.set(key, levels);
    return levels;
  }

  private async deepestOf(nodes: readonly JsonValue[]): Promise<number> {
    let deepest = 0;
    for (const node of nodes) deepest = Math.max(deepest, await this.depthOfNode(node));
    return deepest;
  }

  private async depthOfNode(node: JsonValue): Promise<number> {
    if (!isJsonObject(node) || node['type'] !== 'workflow' || !isJsonObject(node['config'])) return 0;
    const { workflow, revision, body } = node['config'];
    if (typeof workflow !== 'string') return 1 + (await this.deepestOf(innerNodes(body)));
    return 1 + (await this.countBelow(workflow, typeof revision === 'string' ? revision : undefined));
  }
}
