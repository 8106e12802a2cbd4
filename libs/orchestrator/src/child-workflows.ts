import { namingNodes, type NamingNode, withRevisions } from './named-workflows.js';
import { DEEPEST_RUN, NestingDepth } from './run-levels.js';
import { ReadWorkflows, type SavedWorkflows } from './saved-workflows.js';
import type { WorkflowDefinition } from './workflow.js';
import { errorProblem, type WorkflowProblem } from './workflow-problem.js';
import { childInputProblems } from './workflow-problems.js';

/** Maximum number of revisions that are read to find a cycle. */
const MOST_READ = 1_000;

/** Definition in which each named workflow has a revision, or the problems that prevent saving it. */
export type NamedChildren = { definition: WorkflowDefinition } | { problems: WorkflowProblem[] };

/**
 * Resolves the workflows that nodes of a definition name, before it is saved.
 * - Each workflow must exist.
 * - None may run the saved workflow again, directly or through others.
 * - None may exceed the maximum depth of runs, as far as saved definitions show it.
 * - The inputs that the node gives must fit it.
 * @param store workflows of the tenant
 */
export async function resolveNamedChildren(
  definition: WorkflowDefinition,
  store: SavedWorkflows,
): Promise<NamedChildren> {
  const naming = namingNodes(definition);
  if (naming.length === 0) return { definition };
  const children = new ChildLookup(new ReadWorkflows(store), definition.name);
  const problems: WorkflowProblem[] = [];
  for (const node of naming) {
    problems.push(...(await children.findChildProblems(node)));
  }
  if (problems.length > 0) return { problems };
  return { definition: withRevisions(definition, (name) => children.newest.get(name) ?? '') };
}

class ChildLookup {
  /** Newest revisions of the workflows that nodes name without a revision, by name. */
  readonly newest = new Map<string, string>();
  /** Revisions that were searched, as `name@revision`. */
  private readonly read = new Set<string>();

  private readonly levels: NestingDepth;

  constructor(
    private readonly store: ReadWorkflows,
    private readonly parent: string,
  ) {
    this.levels = new NestingDepth(store);
  }

  async findChildProblems(naming: NamingNode): Promise<WorkflowProblem[]> {
    const { workflow, revision, path, node, inputs } = naming;
    const said = `workflow node "${node}":`;
    if (workflow === this.parent)
      return [
        errorProblem('LOOP_DETECTED', `${path}.workflow`, `${said} workflow "${workflow}" would run itself again`, {
          node,
        }),
      ];
    const found = await this.store.get(workflow, revision);
    if (!found) return [await this.createUnknownProblem(naming)];
    if (revision === undefined) this.newest.set(workflow, found.revision);
    const way = await this.findWayBack(found.definition, [workflow]);
    if (way !== undefined) {
      const detail = `${said} workflow "${this.parent}" would run itself again (${way.join(' → ')})`;
      return [errorProblem('LOOP_DETECTED', `${path}.workflow`, detail, { node })];
    }
    const levels = naming.level + (await this.levels.countBelow(workflow, revision));
    if (levels > DEEPEST_RUN) {
      const detail = `${said} at most ${DEEPEST_RUN} runs lie in each other below the first, with "${workflow}" ${levels}`;
      return [errorProblem('DEPTH_EXCEEDED', `${path}.workflow`, detail, { node })];
    }
    return (inputs ? childInputProblems(found.definition, inputs) : []).map(({ code, path: member, detail }) =>
      errorProblem(code, `${path}.${member}`, `${said} ${detail}`, { node }),
    );
  }

  private async createUnknownProblem({ workflow, revision, path, node }: NamingNode): Promise<WorkflowProblem> {
    const known = revision === undefined ? undefined : await this.store.get(workflow);
    const said = `workflow node "${node}":`;
    if (!known)
      return errorProblem('UNKNOWN_WORKFLOW', `${path}.workflow`, `${said} there is no workflow "${workflow}"`, {
        node,
      });
    const detail = `${said} workflow "${workflow}" has no revision ${revision}; the newest is ${known.revision}`;
    return errorProblem('UNKNOWN_REVISION', `${path}.revision`, detail, { node });
  }

  /** Returns the names that lead from a definition to the parent; `undefined` if the search finds none. */
  private async findWayBack(definition: WorkflowDefinition, way: string[]): Promise<string[] | undefined> {
    for (const { workflow, revision } of namingNodes(definition)) {
      const further = [...way, workflow];
      if (workflow === this.parent) return further;
      const key = `${workflow}@${revision}`;
      if (revision === undefined || this.read.has(key) || this.read.size >= MOST_READ) continue;
      this.read.add(key);
      const found = await this.store.get(workflow, revision);
      const back = found && (await this.findWayBack(found.definition, further));
      if (back) return back;
    }
    return undefined;
  }
}
