import type { ListedAgent } from '#libs/agents';
import { type AgentSkill, invalidParams } from '#libs/protocol';
import {
  inputsSchema,
  isRequired,
  MOST_DEFINITION_BYTES,
  MOST_DESCRIPTION_BYTES,
  type WorkflowNode,
  type WorkflowRevision,
} from '#libs/workflow-definition';
import { nodePath, workflowPath } from '#libs/workflow-engine';
import {
  findInlineRevision,
  type ListedNode,
  type ListedWorkflow,
  type WorkflowInterface,
  type WorkflowSummary,
} from '../storage/workflow-store.js';

/**
 * Returns the summary of a revision, which is stored for cards and directories. Takes time linear in the size of the
 * definition.
 */
export function summaryOf(revision: WorkflowRevision): WorkflowSummary {
  const { description, nodes } = revision.definition;
  return {
    ...(description && { description: briefDescription(description) }),
    interface: boundedInterface(nodes),
    nodes: boundedNodes(listedNodes(revision)),
  };
}

/** Returns the inputs and outputs of a workflow, from its `input` and `output` nodes. */
export function interfaceOf(nodes: readonly WorkflowNode[]): WorkflowInterface {
  const inputs = nodes.filter(({ type }) => type === 'input').map(({ id }) => id);
  const artifacts = nodes.filter(({ type }) => type === 'output').map(({ id }) => id);
  const example = JSON.stringify(Object.fromEntries(inputs.map((id) => [id, 'text'])));
  return { input: inputsSchema(nodes), artifacts, ...(inputs.length > 0 && { example }) };
}

/** Returns the description that the author of a node wrote for callers; `undefined` if there is none. */
export function writtenOf({ config: { description } }: Pick<WorkflowNode, 'config'>): string | undefined {
  return typeof description === 'string' && description.trim() !== '' ? description : undefined;
}

/** Truncates a description that is longer than allowed. Such a description was saved before there was a limit. */
function briefDescription(text: string): string {
  if (Buffer.byteLength(text) <= MOST_DESCRIPTION_BYTES) return text;
  return `${text.slice(0, MOST_DESCRIPTION_BYTES / 4)}…`;
}

/**
 * Returns the inputs and outputs of a workflow. If they are too large for a summary, the schemas of the inputs are
 * omitted. That is possible only for a definition that was saved before sizes were limited.
 */
function boundedInterface(nodes: readonly WorkflowNode[]): WorkflowInterface {
  const whole = interfaceOf(nodes);
  if (isBounded(whole)) return whole;
  return interfaceOf(nodes.map((node) => ({ ...node, config: { optional: !isRequired(node) } })));
}

function boundedNodes(nodes: ListedNode[]): ListedNode[] {
  return isBounded(nodes) ? nodes : nodes.map(({ id, type }) => ({ id, type }));
}

function isBounded(value: object): boolean {
  return Buffer.byteLength(JSON.stringify(value)) <= MOST_DEFINITION_BYTES;
}

function listedNodes(revision: WorkflowRevision): ListedNode[] {
  const found = revision.definition.nodes.flatMap((node): ListedNode[] => {
    const description = writtenOf(node);
    const own = { id: node.id, type: node.type, ...(description && { description: briefDescription(description) }) };
    const inner = node.type === 'workflow' ? findInlineRevision(revision, node.id) : undefined;
    return [own, ...(inner ? listedNodes(inner).map((it) => ({ ...it, id: `${node.id}.${it.id}` })) : [])];
  });
  return found.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

export const TEXT = 'text/plain';
export const JSON_DATA = 'application/json';
/** Media types of a workflow's agent. It accepts files, because they go to its `input` nodes. */
export const WORKFLOW_MODES = { inputModes: [TEXT, JSON_DATA, '*/*'], outputModes: [TEXT, JSON_DATA] };

/**
 * Last agent of a directory page: the service (no members), a workflow, a node of a workflow, or a registered agent.
 * The next page begins after it.
 */
interface DirectoryPosition {
  workflow?: string;
  node?: string;
  agent?: string;
}

const SERVICE = 'service';
const PATH = /^workflows\/([\w-]+)(?:\/nodes\/([\w.-]+))?$/;
const AGENT_PATH = /^agents\/([\w-]+)$/;

/**
 * A page of the agent directory: the service first, then the workflows by name, then the registered agents by name. The
 * page token encodes the path of the last agent of the page.
 */
export class AgentPage {
  private readonly agents: ListedAgent[] = [];
  private readonly after: DirectoryPosition | undefined;
  private last: string | undefined;
  private more = false;

  /**
   * @param types node types that have an executor; nodes of other types are not listed
   * @throws A2AError INVALID_PARAMS for a malformed token
   */
  constructor(
    private readonly limit: number,
    pageToken: string | undefined,
    private readonly types: readonly string[],
  ) {
    this.after = pageToken ? decodeAgentToken(pageToken) : undefined;
  }

  /**
   * Name of the workflow whose entry, or one of whose nodes, was the last entry of the previous page; `undefined` if
   * the page ended with another agent.
   */
  get begunWorkflow(): string | undefined {
    return this.after?.workflow;
  }

  /** Name of the registered agent at the end of the previous page; `''` if it ended with another agent. */
  get begunAgent(): string {
    return this.after?.agent ?? '';
  }

  /** True if there are more agents than fit on the page. */
  get full(): boolean {
    return this.more;
  }

  /** Adds the entry of the service, on the first page. Call it before `addWorkflow`. */
  beginWithService(service: ListedAgent): void {
    if (!this.after) this.offerAgent(SERVICE, service);
  }

  addWorkflow({ name, description, nodes }: ListedWorkflow): void {
    const begun = this.after?.workflow === name ? this.after : undefined;
    const path = workflowPath(name);
    if (!begun) this.offerAgent(path, { path, name, description: workflowSkill({ name, description }).description });
    for (const node of nodes) {
      if (this.more) return;
      if (begun?.node !== undefined && node.id <= begun.node) continue;
      const at = nodePath(name, node.id);
      this.offerAgent(at, this.types.includes(node.type) ? listedAgent(at, name, node) : undefined);
    }
  }

  /** Adds registered agents, sorted by name, after all workflows. */
  addAgents(agents: readonly ListedAgent[]): void {
    for (const agent of agents) if (!this.more) this.offerAgent(agent.path, agent);
  }

  buildPage(): { agents: ListedAgent[]; nextPageToken: string } {
    const token = this.more && this.last !== undefined ? Buffer.from(this.last).toString('base64url') : '';
    return { agents: this.agents, nextPageToken: token };
  }

  private offerAgent(path: string, agent: ListedAgent | undefined): void {
    if (this.agents.length >= this.limit) {
      this.more = true;
      return;
    }
    if (agent) this.agents.push(agent);
    this.last = path;
  }
}

function listedAgent(path: string, workflow: string, { id, type, description }: ListedNode): ListedAgent {
  const ids = id.split('.');
  const own = ids.pop() ?? id;
  return { path, name: id, description: description ?? defaultDescription(type, own, [workflow, ...ids].join('.')) };
}

function decodeAgentToken(token: string): DirectoryPosition {
  const path = Buffer.from(token, 'base64url').toString();
  if (path === SERVICE) return {};
  const [, agent] = AGENT_PATH.exec(path) ?? [];
  if (agent !== undefined) return { agent };
  const [, workflow, node] = PATH.exec(path) ?? [];
  if (workflow === undefined) throw invalidParams({ field: 'pageToken', description: 'is not a token of this list' });
  return { workflow, node };
}

/** Returns the description of a node whose author wrote none. */
export function defaultDescription(type: string, id: string, workflow: string): string {
  return `${type} node ${id} of workflow ${workflow}`;
}

/** Returns the skill of a workflow, for the cards of the workflow and of the service. */
export function workflowSkill({ name, description }: { name: string; description?: string }): AgentSkill {
  const said = description || `The workflow ${name}`;
  return { id: name, name, description: said, tags: ['workflow'], ...WORKFLOW_MODES };
}
