import { retryWhileUnreachable } from '#libs/postgres';
import { type CalledAgent, ProcessCalls } from '#libs/process';
import { statusUpdate } from '#libs/protocol';
import type { NodeEvent } from '../node-executor.js';
import { toolCanceled } from './agent-events.js';
import type { LoggedToolCall } from './agent-log.js';
import { type AgentToolConfig, reachOf } from './agent-tool-config.js';
import type { SelfRecordingTool } from './agent-tools.js';
import { CalledAgentTool } from './called-agent-tool.js';
import type { WaitingAgentTask } from './called-agent-log.js';
import type { AgentToolServices, AgentToolCalls, CallingExecution } from './called-agent-services.js';
import { type OfferedAgent, offeredAgent } from './offered-agent.js';
import { TalkTool } from './talk-tool.js';

/** Maximum number of this service's calls between the first Message and an agent that still may call others. */
const DEEPEST_AGENTS = 8;

/** Agents that one execution of an `agent` node may call as tools, and its calls to them. */
export class CalledAgents implements AgentToolCalls {
  readonly calls: ProcessCalls;

  constructor(
    readonly services: AgentToolServices,
    readonly execution: CallingExecution,
    private readonly configs: readonly AgentToolConfig[],
  ) {
    this.calls = new ProcessCalls(services, execution);
  }

  /**
   * Returns the offered tools; none if the chain of calls is too long.
   * @param inConversation true if the Task is a turn of a conversation, which starts no further conversation
   */
  async offerTools(inConversation: boolean): Promise<SelfRecordingTool[]> {
    const { services, execution, configs } = this;
    const { context, links } = execution;
    if (services.chains.ownCalls(links).length >= DEEPEST_AGENTS) return [];
    const caller = { ...context.call.scope, signal: context.signal };
    const offered = configs.filter(({ talk }) => talk === undefined || (services.talks && !inConversation));
    return Promise.all(
      offered.map(async (config) => this.createTool(config, await offeredAgent(config, services, caller))),
    );
  }

  async spendCall(): Promise<void> {
    const { services, execution } = this;
    const { context, links } = execution;
    const root = services.chains.rootOf(links) ?? context.taskId;
    await retryWhileUnreachable(async () => services.budgets?.spendCall(root), context.signal);
  }

  resolveCalledAgent(config: AgentToolConfig, id: string): CalledAgent {
    const { call, signal } = this.execution.context;
    const { talks } = this.services;
    // The revision proves to other replicas that this service requested the conversation.
    const { revision } = this.execution.log;
    const identity = revision !== undefined && { identity: { revision } };
    if (config.talk && talks) return { reference: `tool#${id}`, ...talks.conversationTarget(), ...identity };
    return {
      reference: `tool#${id}`,
      ...this.services.references.callTarget(config.reference, call.scope.tenant, signal),
      identity: reachOf(config),
    };
  }

  /** Closes all connections. The agents continue to work. */
  closeConnections(): void {
    this.calls.abort();
  }

  /** Cancels the running Task and the waiting ones, records the outcomes, and ends the caller's Task as canceled. */
  async *cancelAndReport(): AsyncGenerator<NodeEvent, void, void> {
    const canceled = await this.cancelAll();
    for (const events of canceled) yield* events;
    yield statusUpdate(this.execution.context, 'TASK_STATE_CANCELED');
  }

  /** Cancels the running Task and the waiting ones. Never throws. */
  async endAll(): Promise<void> {
    await this.cancelAll().catch(() => undefined);
  }

  /** Cancels the Tasks that wait for an answer which will not come. Never throws. */
  async endWaiting(): Promise<void> {
    await Promise.all(this.execution.log.calledAgents.waiting.map((it) => this.cancelWaiting(it)));
  }

  /** Returns the events of the cancels, by Task. */
  private cancelAll(): Promise<NodeEvent[][]> {
    const { log } = this.execution;
    const open = log.call && log.call.made > 0 ? log.call : undefined;
    const atWork = open && this.seenOf(open);
    const waiting = log.calledAgents.waiting.filter(({ taskId }) => taskId !== atWork);
    return Promise.all([...(open ? [this.cancelOpen(open)] : []), ...waiting.map((it) => this.cancelWaiting(it))]);
  }

  private createTool(config: AgentToolConfig, offered: OfferedAgent): SelfRecordingTool {
    const { talk } = config;
    const { talks } = this.services;
    if (talk && talks) return new TalkTool(this, { ...config, talk }, talks, offered);
    return new CalledAgentTool(this, config, offered);
  }

  /** Returns the Task of a call in progress: its own, or the waiting one that it answers. */
  private seenOf({ tool, called }: LoggedToolCall): string | undefined {
    return (called ?? this.execution.log.calledAgents.waitingOf(tool))?.taskId;
  }

  private async cancelOpen(call: LoggedToolCall): Promise<NodeEvent[]> {
    const { tool, id } = call;
    const config = this.configs.find((it) => it.tool === tool);
    if (!config) return [];
    const seen = this.seenOf(call);
    const canceled = await this.calls.cancelCall({
      ...this.resolveCalledAgent(config, id),
      ...(seen !== undefined && { seen }),
    });
    return [toolCanceled(this.execution.context, { tool, id, ...canceled })];
  }

  private async cancelWaiting({ tool, call: id, taskId }: WaitingAgentTask): Promise<NodeEvent[]> {
    const config = this.configs.find((it) => it.tool === tool);
    if (!config) return [];
    const outcome = await this.calls.cancelTask(this.resolveCalledAgent(config, id), taskId);
    return [toolCanceled(this.execution.context, { tool, id, taskId, outcome })];
  }
}
