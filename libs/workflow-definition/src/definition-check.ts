import { setImmediate as turn } from 'node:timers/promises';
import type { NodeTypes } from '#libs/agents';
import { isJsonObject, type JsonObject } from '#libs/protocol';
import { findSizeProblems } from './definition-limits.js';
import {
  DEEPEST_RUN,
  type NamingNode,
  namingNodes,
  NestingDepth,
  ReadWorkflows,
  type SavedWorkflows,
  withRevisions,
} from './named-workflows.js';
import { readDefinition, unknownMembers } from './sent-definition.js';
import { errorProblem, warningProblem, type WorkflowProblem } from './workflow-problem.js';
import { childInputProblems, workflowProblems } from './workflow-problems.js';
import type { WorkflowDefinition, WorkflowRevision } from './workflow.js';

/** Maximum number of revisions that are read to find out if a workflow would run itself. */
const MOST_READ = 1_000;

/**
 * Result of `resolveNamedChildren`: the definition in which each named workflow has a revision, or the problems that
 * prevent saving it.
 */
export type NamedChildren = { definition: WorkflowDefinition } | { problems: WorkflowProblem[] };

/**
 * Resolves the workflows that nodes of a definition name, before the definition is saved. A node that names no revision
 * gets the newest one. These rules are checked:
 * - Each named workflow and revision must exist.
 * - No named workflow may run the saved workflow again, directly or through others.
 * - Runs may be nested at most `DEEPEST_RUN` deep, as far as saved definitions show.
 * - The inputs that a node gives must have names of inputs of the named workflow.
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
  /** Newest revision of each workflow that a node names without a revision, by workflow name. */
  readonly newest = new Map<string, string>();
  /** Revisions in which `findWayBack` has searched, as `name@revision`. */
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
        errorProblem('LOOP_DETECTED', `${path}.workflow`, `${said} workflow "${workflow}" would run itself`, {
          node,
        }),
      ];
    const found = await this.store.get(workflow, revision);
    if (!found) return [await this.createUnknownProblem(naming)];
    if (revision === undefined) this.newest.set(workflow, found.revision);
    const way = await this.findWayBack(found.definition, [workflow]);
    if (way !== undefined) {
      const detail = `${said} workflow "${this.parent}" would run itself (${way.join(' → ')})`;
      return [errorProblem('LOOP_DETECTED', `${path}.workflow`, detail, { node })];
    }
    const levels = naming.level + (await this.levels.countBelow(workflow, revision));
    if (levels > DEEPEST_RUN) {
      const detail = `${said} at most ${DEEPEST_RUN} runs can be nested below the first, with "${workflow}" ${levels}`;
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

  /**
   * Searches for a way in which a definition would run the saved workflow (`parent`) again, through the workflows that
   * its nodes name. Returns the names of the workflows on the way, in order; `undefined` if there is none.
   * @param way names of the workflows that lead from the saved workflow to this definition, in order
   */
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

/** Maximum number of nodes and edges of a small definition. After a larger one, a check yields to the event loop. */
const FEW_PARTS = 500;

/** Function that finds problems of a definition that only the service can find, for example unknown agents. */
type ServiceCheck = (definition: WorkflowDefinition) => Promise<WorkflowProblem[]>;

/**
 * Returns the problems of a request body, errors first. The workflows that nodes name are checked, and
 * `findServiceProblems` is called, only if the definition itself has no errors.
 * @param store saved workflows that nodes may name
 * @param findServiceProblems absent outside of a service
 */
export async function findBodyProblems(
  body: unknown,
  store: SavedWorkflows,
  nodeTypes: NodeTypes,
  findServiceProblems: ServiceCheck = async () => [],
): Promise<WorkflowProblem[]> {
  const definition = readDefinition(body);
  if (Array.isArray(definition)) return isJsonObject(body) ? withUnknownMembers(definition, body) : definition;
  await turnIfLarge(definition);
  const problems = findOwnProblems(definition, body as JsonObject, nodeTypes);
  if (problems.some(isError)) return problems;
  const named = await resolveNamedChildren(definition, store);
  const tools = await findServiceProblems(definition);
  return [...('problems' in named ? named.problems : []), ...tools, ...problems].toSorted(errorsFirst);
}

/**
 * Returns the problems that can be found without other workflows and without the service, errors first. If size limits
 * are exceeded, only these problems are returned.
 * @param sent the definition as it was sent, in which unknown members are searched
 */
export function findOwnProblems(
  definition: WorkflowDefinition,
  sent: JsonObject,
  nodeTypes: NodeTypes,
): WorkflowProblem[] {
  const sizes = findSizeProblems(definition);
  if (sizes.length > 0) return sizes;
  const problems = [...workflowProblems(definition, nodeTypes), ...unknownMembers(sent)];
  return problems.toSorted(errorsFirst);
}

/** Maximum number of unknown members that are reported in addition to malformed members. */
const MOST_UNKNOWN = 20;

/**
 * Adds warnings about unknown members of a malformed definition. A missing member may have been sent under a wrong
 * name.
 */
function withUnknownMembers(faults: readonly WorkflowProblem[], sent: JsonObject): WorkflowProblem[] {
  return [...faults, ...unknownMembers(sent).slice(0, MOST_UNKNOWN)];
}

/** Yields to the event loop once if a definition is large (FEW_PARTS). Call it after each definition that was read. */
export async function turnIfLarge({ nodes, edges }: WorkflowDefinition): Promise<void> {
  if (nodes.length + edges.length > FEW_PARTS) await turn();
}

function errorsFirst(a: WorkflowProblem, b: WorkflowProblem): number {
  return Number(isError(b)) - Number(isError(a));
}

/** True if a problem prevents a save even without `strict`. */
export function isError({ severity }: WorkflowProblem): boolean {
  return severity === 'error';
}

/** Revision of every definition that `createSentWorkflows` returns. */
const SENT = 'sent';

/**
 * Codes of problems that can be decided only by a service. Without a service, a warning with the given text is returned
 * instead.
 */
const ELSEWHERE: Readonly<Record<string, string>> = {
  UNKNOWN_WORKFLOW: 'no file contains it; only the service knows if it exists',
  UNKNOWN_REVISION: 'only the service knows if this revision exists',
};

/**
 * Checks several definitions together, without a service, as `parley check` does for a folder. They may name each
 * other. A workflow that is named but not among them only causes a warning.
 * @returns the problems of each definition, in the given order
 */
export async function problemsTogether(sent: readonly unknown[], nodeTypes: NodeTypes): Promise<WorkflowProblem[][]> {
  const together = createSentWorkflows(sent);
  return Promise.all(
    sent.map(async (body) => (await findBodyProblems(body, together, nodeTypes)).map(warnIfUndecidable)),
  );
}

/** Returns a lookup with which definitions that are checked together can name each other, as if they were saved. */
function createSentWorkflows(sent: readonly unknown[]): SavedWorkflows {
  const now = new Date();
  const revisions = sent.flatMap((body): WorkflowRevision[] => {
    const read = readDefinition(body);
    if (Array.isArray(read)) return [];
    const definition = withRevisions(read, () => SENT);
    return [{ definition, revision: SENT, createdAt: now, updatedAt: now }];
  });
  const byName = new Map(revisions.map((it) => [it.definition.name, it]));
  return { get: async (name, revision = SENT) => (revision === SENT ? byName.get(name) : undefined) };
}

function warnIfUndecidable(problem: WorkflowProblem): WorkflowProblem {
  const { code, path, node } = problem;
  const why = ELSEWHERE[code];
  if (why === undefined) return problem;
  return warningProblem(code, path, `workflow node "${node}": ${why}`, node === undefined ? {} : { node });
}
