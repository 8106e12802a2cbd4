import { type ServedAgent, UnknownAgent } from '#libs/executor';
import { invalidParams } from '#libs/protocol';
import type { WorkflowAgents } from './workflow-agents.js';

/** Where a page ended: the service, a workflow, or a node of one. */
interface Position {
  workflow?: string;
  node?: string;
}

const SERVICE = 'service';
const PATH = /^workflows\/([\w-]+)(?:\/nodes\/([\w.-]+))?$/;

/**
 * One page of the directory, filled with the service and then workflows in the order of their names. Its token is the
 * last agent's path.
 */
export class AgentPage {
  private readonly agents: ServedAgent[] = [];
  private readonly after: Position | undefined;
  private last: string | undefined;
  private more = false;

  /** @throws A2AError for a token that is not one of ours */
  constructor(
    private readonly limit: number,
    pageToken: string | undefined,
  ) {
    this.after = pageToken ? positionOf(pageToken) : undefined;
  }

  /** The workflow that the page before ended in. */
  get begunWorkflow(): string | undefined {
    return this.after?.workflow;
  }

  /** Whether there is more than fits. */
  get full(): boolean {
    return this.more;
  }

  /** To be called first, with how to make the service's agent. */
  async begin(service: () => Promise<ServedAgent>): Promise<void> {
    if (this.after) return;
    const agent = await service();
    this.offer(SERVICE, () => agent);
  }

  add(workflow: WorkflowAgents): void {
    const { name } = workflow.revision.definition;
    const begun = this.after?.workflow === name ? this.after : undefined;
    if (!begun) this.offer(workflow.path, () => workflow.agent);
    for (const id of workflow.nodeIds) {
      if (begun?.node !== undefined && id <= begun.node) continue;
      this.offer(`${workflow.path}/nodes/${id}`, () => workflow.node(id));
    }
  }

  result(): { agents: ServedAgent[]; nextPageToken: string } {
    const token = this.more && this.last !== undefined ? Buffer.from(this.last).toString('base64url') : '';
    return { agents: this.agents, nextPageToken: token };
  }

  private offer(path: string, make: () => ServedAgent | undefined): void {
    if (this.agents.length >= this.limit) {
      this.more = true;
      return;
    }
    const agent = made(make);
    if (agent) this.agents.push(agent);
    this.last = path;
  }
}

/** A node that nobody executes any more is not in the directory. */
function made(make: () => ServedAgent | undefined): ServedAgent | undefined {
  try {
    return make();
  } catch (error) {
    if (error instanceof UnknownAgent) return undefined;
    throw error;
  }
}

function positionOf(token: string): Position {
  const path = Buffer.from(token, 'base64url').toString();
  if (path === SERVICE) return {};
  const [, workflow, node] = PATH.exec(path) ?? [];
  if (workflow === undefined) throw invalidParams({ field: 'pageToken', description: 'is not a token of this list' });
  return { workflow, node };
}
