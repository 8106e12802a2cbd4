import type { CallBudgets, ChainLink, RequestContext } from '#libs/executor';
import type { AgentReferences, AgentTalks, CalledAgent, ProcessCalls, ProcessServices } from '#libs/process';
import type { TaskStore } from '#libs/tasks';
import type { AgentLog } from './agent-log.js';
import type { AgentToolConfig } from './agent-tool-config.js';

/** Services for calling agents as tools. */
export interface AgentToolServices extends ProcessServices {
  tasks: ProcessServices['tasks'] & Pick<TaskStore, 'readEvents'>;
  references: Pick<AgentReferences, 'callTarget' | 'findServedAgent'>;
  /** Budgets of calls; absent: calls are not counted. */
  budgets?: Pick<CallBudgets, 'spendCall'>;
  /** Conversations between agents; absent: no call is a conversation. */
  talks?: AgentTalks;
}

/** Execution of an `agent` node that calls agents. */
export interface CallingExecution {
  context: RequestContext;
  /** Chain of calls that led to the Task. */
  links: readonly ChainLink[];
  log: AgentLog;
}

/** Access of an agent's tool to the calls of its execution. */
export interface AgentToolCalls {
  readonly services: AgentToolServices;
  readonly execution: CallingExecution;
  readonly calls: ProcessCalls;
  /** Returns the agent to call, with the call's id as its reference. */
  resolveCalledAgent(config: AgentToolConfig, id: string): CalledAgent;
  /**
   * Counts one call in the budget of the Task's root.
   * @throws A2AError UNSUPPORTED_OPERATION with the reason `BUDGET_EXCEEDED`
   */
  spendCall(): Promise<void>;
}
