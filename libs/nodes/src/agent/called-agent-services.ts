import type { CallBudgets, ChainLink, RequestContext } from '#libs/executor';
import type { AgentReferences, AgentTalks, CalledAgent, ProcessCalls, ProcessServices } from '#libs/process';
import type { TaskStore } from '#libs/tasks';
import type { AgentLog } from './agent-log.js';
import type { AgentToolConfig } from './agent-tool-config.js';

/** What an `agent` node needs to call agents as tools. */
export interface AgentToolServices extends ProcessServices {
  tasks: ProcessServices['tasks'] & Pick<TaskStore, 'events'>;
  references: Pick<AgentReferences, 'called' | 'served'>;
  /** Absent: calls are not counted. */
  budgets?: Pick<CallBudgets, 'spend'>;
  /** Absent: no call is a conversation. */
  talks?: AgentTalks;
}

/** One execution of an `agent` node that calls agents. */
export interface CallingExecution {
  context: RequestContext;
  /** The calls that led to the Task. */
  links: readonly ChainLink[];
  log: AgentLog;
}

/** What a tool that is an agent makes its calls with. */
export interface AgentToolCalls {
  readonly services: AgentToolServices;
  readonly execution: CallingExecution;
  readonly calls: ProcessCalls;
  /** Returns whom a call is for, by its id. */
  called(config: AgentToolConfig, id: string): CalledAgent;
  /**
   * Counts one call for the root of the Task.
   * @throws A2AError UNSUPPORTED_OPERATION with the reason `BUDGET_EXCEEDED`
   */
  spend(): Promise<void>;
}
