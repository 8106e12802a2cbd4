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
  async find(nodeId: string, attempt: number): Promise<string | undefined> {
    this.known ??= this.load();
    return (await this.known).get(childReference(nodeId, attempt));
  }

  /** Resolves when the child will be found again. */
  remember(nodeId: string, attempt: number, taskId: string, agentUrl: string): Promise<void> {
    return this.remembered.remember({ runId: this.runId, nodeId, attempt, taskId, agentUrl });
  }

  private async load(): Promise<Map<string, string>> {
    const [own, remembered] = await Promise.all([this.tasks.children(this.runId), this.remembered.of(this.runId)]);
    return new Map([
      ...own.map((header) => [header.parentReference ?? '', header.taskId] as const),
      ...remembered.map((child) => [childReference(child.nodeId, child.attempt), child.taskId] as const),
    ]);
  }
}
