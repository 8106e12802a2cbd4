import { isWaitingState, type TaskState } from '#libs/protocol';
import type { CalledNote, AgentTask } from './agent-events.js';

/** A called agent's Task that waits for an answer, or may do so. */
export interface WaitingAgentTask extends AgentTask {
  /** The call that the Task was left waiting by. */
  call: string;
  tool: string;
  /** State of the Task; absent: it is not known. */
  state?: TaskState;
}

/** What the log of an agent's Task says of the agents that it called as tools, by tool. */
export class CalledAgentLog {
  private readonly ids = new Map<string, Set<string>>();
  private readonly contexts = new Map<string, string>();
  private readonly open = new Map<string, WaitingAgentTask>();
  private readonly tokens = new Map<string, number>();
  /** Tasks that no call answers any more, and that may still wait. */
  private readonly left: WaitingAgentTask[] = [];

  /** Notes a call; its repetition is the same one. */
  count(tool: string, id: string): void {
    const ids = this.ids.get(tool) ?? new Set();
    this.ids.set(tool, ids.add(id));
  }

  /** Notes the end of a call. @param called absent where no Task of the agent was seen */
  end(tool: string, called: CalledNote | undefined): void {
    if (called === undefined) return;
    const { call, taskId, contextId, state, left, tokens = 0 } = called;
    this.tokens.set(taskId, this.tokensOf(taskId) + tokens);
    const task: WaitingAgentTask = { tool, call, taskId, contextId };
    if (contextId !== '') this.contexts.set(tool, contextId);
    if (left) this.left.push(task);
    if (state !== undefined && isWaitingState(state)) this.open.set(tool, { ...task, state });
    else if (this.open.get(tool)?.taskId === taskId) this.open.delete(tool);
  }

  /** Returns how many calls of a tool were recorded. */
  calls(tool: string): number {
    return this.ids.get(tool)?.size ?? 0;
  }

  /** Returns the agent's context of the earlier calls of a tool. */
  contextOf(tool: string): string | undefined {
    return this.contexts.get(tool);
  }

  /** Returns the Task that the next call of a tool answers. */
  waitingOf(tool: string): WaitingAgentTask | undefined {
    return this.open.get(tool);
  }

  /** Returns the tokens that the results of earlier calls say an agent's Task has used. */
  tokensOf(taskId: string): number {
    return this.tokens.get(taskId) ?? 0;
  }

  /** All Tasks that wait for an answer, or may do so. */
  get waiting(): WaitingAgentTask[] {
    return [...this.open.values(), ...this.left];
  }
}
