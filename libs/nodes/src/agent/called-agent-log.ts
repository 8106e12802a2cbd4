import { isWaitingState, type TaskState } from '#libs/protocol';
import type { CalledNote, AgentTask } from './agent-events.js';

/** Called agent's Task that waits for an answer, or may wait. */
export interface WaitingAgentTask extends AgentTask {
  /** Call that left the Task waiting. */
  call: string;
  tool: string;
  /** State of the Task, if known. */
  state?: TaskState;
}

/** State of the agents that an agent's Task called as tools, by tool. */
export class CalledAgentLog {
  private readonly ids = new Map<string, Set<string>>();
  private readonly contexts = new Map<string, string>();
  private readonly open = new Map<string, WaitingAgentTask>();
  private readonly tokens = new Map<string, number>();
  /** Tasks that no later call answers and that may still wait. */
  private readonly left: WaitingAgentTask[] = [];

  /** Records a call. A repeated call counts once. */
  recordCall(tool: string, id: string): void {
    const ids = this.ids.get(tool) ?? new Set();
    this.ids.set(tool, ids.add(id));
  }

  /** Records the end of a call. @param called absent if no Task of the agent was seen */
  recordCallEnd(tool: string, called: CalledNote | undefined): void {
    if (called === undefined) return;
    const { call, taskId, contextId, state, left, tokens = 0 } = called;
    this.tokens.set(taskId, this.tokensOf(taskId) + tokens);
    const task: WaitingAgentTask = { tool, call, taskId, contextId };
    if (contextId !== '') this.contexts.set(tool, contextId);
    if (left) this.left.push(task);
    if (state !== undefined && isWaitingState(state)) this.open.set(tool, { ...task, state });
    else if (this.open.get(tool)?.taskId === taskId) this.open.delete(tool);
  }

  /** Returns the number of recorded calls of a tool. */
  countCalls(tool: string): number {
    return this.ids.get(tool)?.size ?? 0;
  }

  /** Returns the agent's context from earlier calls of a tool. */
  contextOf(tool: string): string | undefined {
    return this.contexts.get(tool);
  }

  /** Returns the Task that the next call of a tool answers. */
  waitingOf(tool: string): WaitingAgentTask | undefined {
    return this.open.get(tool);
  }

  /** Returns the tokens of an agent's Task according to the results of earlier calls. */
  tokensOf(taskId: string): number {
    return this.tokens.get(taskId) ?? 0;
  }

  /** Tasks that wait for an answer, or may wait. */
  get waiting(): WaitingAgentTask[] {
    return [...this.open.values(), ...this.left];
  }
}
