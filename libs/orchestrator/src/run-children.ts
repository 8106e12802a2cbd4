import { ownChildren } from '#libs/agent-calls';
import { throughOutage } from '#libs/postgres';
import type { TaskStore } from '#libs/tasks';
import { childReference } from './node-dispatch.js';
import type { RunChildStore } from './run-child-store.js';

/** The Tasks that one run made: those in this service's own store, and those remembered of other agents. */
export class RunChildren {
  private known: Promise<Map<string, string>> | undefined;

  constructor(
    private readonly runId: string,
    private readonly tasks: TaskStore,
    private readonly remembered: RunChildStore,
  ) {}

  /** The Task that a node's attempt made, as far as any store knew when this was first asked. */
  async find(nodeId: string, attempt: number, signal: AbortSignal): Promise<string | undefined> {
    this.known ??= this.load(signal).catch((error: unknown) => {
      this.known = undefined;
      throw error;
    });
    return (await this.known).get(childReference(nodeId, attempt));
  }

  /** Resolves when the child will be found again. */
  remember(nodeId: string, attempt: number, taskId: string, agentUrl: string): Promise<void> {
    return this.remembered.remember({ runId: this.runId, nodeId, attempt, taskId, agentUrl });
  }

  private async load(signal: AbortSignal): Promise<Map<string, string>> {
    const remembered = throughOutage(() => this.remembered.of(this.runId), signal);
    const [known, others] = await Promise.all([ownChildren(this.tasks, this.runId, signal), remembered]);
    for (const { nodeId, attempt, taskId } of others) known.set(childReference(nodeId, attempt), taskId);
    return known;
  }
}
