import type { RequestContext, SaidText } from '#libs/agents';
import { type AgentTalks, type CalledAgent, type PlannedCall, ProcessCalls, type TalkOutcome } from '#libs/durable';
import type { ModelMessage } from '#libs/models';
import { retryWhileUnreachable } from '#libs/postgres';
import {
  derivedId,
  describedPart,
  isFilePart,
  isWaitingState,
  type JsonObject,
  type JsonValue,
  type Part,
  statusUpdate,
  textPart,
  textRows,
  textStart,
  userMessage,
} from '#libs/protocol';
import type { NodeEvent } from '../node-executor.js';
import {
  agentCalled,
  agentQuestion,
  type AgentTask,
  type CalledNote,
  toolCall,
  toolCanceled,
  toolResult,
} from './agent-events.js';
import type { AgentLog, LoggedToolCall, WaitingAgentTask } from './agent-log.js';
import { type AgentToolConfig, reachOf, shownReference, type TalkConfig } from './agent-tool-config.js';
import {
  type AgentToolCalls,
  type AgentToolServices,
  argumentFault,
  type CallingExecution,
  type SelfRecordingTool,
  truncateResult,
} from './agent-tools.js';
import { openingOf } from './agent-turn.js';
import { CalledAgentTool } from './called-agent-tool.js';
import { type OfferedAgent, offeredAgent } from './offered-agent.js';

/** Maximum length of a tool's result in a conversation, in characters. */
const LONGEST_RESULT = 8_000;

/**
 * Returns the texts of a Task up to the model's current tool calls, oldest first, as context for a conversation. Every
 * execution of the Task returns the same texts.
 */
function saidBeforeCall(log: AgentLog, context: Pick<RequestContext, 'task' | 'userMessage'>): SaidText[] {
  const opening = openingOf(log, context).map(({ role, parts }): SaidText => {
    return { by: role === 'ROLE_USER' ? 'peer' : 'self', text: textIn(parts) };
  });
  return [...opening, ...log.said.flatMap(textsOf)].filter(({ text }) => text.trim() !== '');
}

function textsOf(message: ModelMessage): SaidText[] {
  if (message.role === 'tool')
    return message.results.map(({ name, result, error }) => {
      const answer = error ?? (typeof result === 'string' ? result : JSON.stringify(result ?? null));
      return { by: 'peer', text: `The tool ${JSON.stringify(name)} answered:\n${textStart(answer, LONGEST_RESULT)}` };
    });
  return [{ by: message.role === 'assistant' ? 'self' : 'peer', text: textIn(message.parts) }];
}

/** Returns Parts as one text: the texts, each data Part as JSON, and a line about each file. */
function textIn(parts: readonly Part[]): string {
  const others = parts.filter((part) => part.text === undefined);
  const rows = others.map((part) => (isFilePart(part) ? describedPart(part) : JSON.stringify(part.data ?? null)));
  return [...textRows(parts), ...rows].join('\n\n');
}

type TalkToolEvents = AsyncGenerator<NodeEvent, void, void>;

/** Settings of an agent that a model may begin a conversation with. */
type TalkingAgent = AgentToolConfig & { talk: TalkConfig };

/**
 * Tool of an `agent` node by which the model starts a conversation with another agent.
 * - A call creates one Task of the local agent `conversations`, even if the call is repeated.
 * - Once the agent `conversations` reports this Task, the id of the Task is recorded in the calling Task's log
 *   (`parley/called`). From then on, only the log of the reported Task decides the outcome of the call.
 * - The call and each turn of the conversation count in the budget of the root Task.
 */
class TalkTool implements SelfRecordingTool {
  readonly name: string;
  readonly reference: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly needsApproval = false;

  constructor(
    private readonly calledAgents: AgentToolCalls,
    private readonly config: TalkingAgent,
    private readonly talks: AgentTalks,
    offered: OfferedAgent,
  ) {
    this.name = config.tool;
    this.reference = shownReference(config);
    this.description = offered.description;
    this.inputSchema = offered.inputSchema;
  }

  explainCallRefusal({ args }: LoggedToolCall): string | undefined {
    const { maxCalls, tool } = this.config;
    if (this.calledAgents.execution.log.calledAgents.countCalls(tool) >= maxCalls)
      return `"${tool}" was called ${maxCalls} times already (maxCalls)`;
    const wrong = argumentFault(this.inputSchema, args);
    return wrong && `the arguments are refused: ${wrong}`;
  }

  resumesCall({ made }: LoggedToolCall): boolean {
    return made > 0;
  }

  async *runCall(call: LoggedToolCall): TalkToolEvents {
    const { calls, execution } = this.calledAgents;
    const { context } = execution;
    const { reference } = this.talkTarget(call);
    if (!this.resumesCall(call)) {
      calls.announceCall(reference);
      yield toolCall(context, call, call.step);
    }
    const open = await calls.openCall(this.planCall(call));
    let note = call.called;
    let isAtWork = false;
    for await (const { seen } of open.runCall()) {
      if (seen && seen.taskId !== note?.taskId) {
        note = this.createCalledNote(call, seen);
        yield agentCalled(context, call, note);
      }
      // If the conversation is paused, the answer of the caller must reach it first.
      isAtWork = note !== undefined && !isWaiting(open.answer.state);
      if (isAtWork) break;
    }
    calls.close(reference);
    // An event that is durable after the answer proves that the answer is durable: the question is not repeated.
    if (note && isAtWork && call.answer) yield agentCalled(context, call, note);
    if (note && (isAtWork || open.outcome.kind !== 'failed')) return yield* this.reportEnd(call, note);
    const { outcome } = open;
    if (outcome.kind !== 'failed') throw new Error('A conversation has no Task');
    if (outcome.failure.kind === 'internal') throw outcome.failure.cause;
    yield toolResult(context, call, { error: this.failureSentence(outcome.failure.message) }, note);
  }

  private async *reportEnd(call: LoggedToolCall, note: CalledNote): TalkToolEvents {
    const { context } = this.calledAgents.execution;
    // The store knows the log of a new conversation only once it is durable.
    await context.flush();
    const outcome = await this.awaitOutcome(note.taskId);
    if ('question' in outcome) {
      const { state, asked } = outcome.question;
      return yield agentQuestion(context, { ...note, state }, asked?.parts ?? [this.pausedText()], asked);
    }
    const result = 'error' in outcome ? { error: this.failureSentence(outcome.error) } : truncateResult(outcome.result);
    yield toolResult(context, call, result, this.createCalledNote(call, note));
  }

  private awaitOutcome(conversationId: string): Promise<TalkOutcome> {
    const { signal } = this.calledAgents.execution.context;
    return this.talks.awaitOutcome(conversationId, { wait: this.config.talk.wait, signal });
  }

  private pausedText(): Part {
    return textPart(
      `The conversation with "${this.name}" is paused. An answer is said in place of the agent whose turn is next.`,
    );
  }

  private failureSentence(why: string): string {
    return `the conversation with "${this.name}" failed: ${why}`;
  }

  private planCall(call: LoggedToolCall): PlannedCall {
    const { context, log } = this.calledAgents.execution;
    const { id, answer, called } = call;
    const messageId = derivedId(context.taskId, 'tool', id, ...(answer ? [answer.messageId] : []));
    const isAnswer = answer !== undefined && called !== undefined;
    const message = isAnswer
      ? userMessage(answer.parts, { messageId, contextId: called.contextId, taskId: called.taskId })
      : this.talks.requestMessage(this.toTalkRequest(call.args), { messageId });
    const { revision } = log;
    const origin = { taskId: context.taskId, call: id };
    const source = { origin, before: saidBeforeCall(log, context), ...(revision !== undefined && { revision }) };
    return {
      ...this.talkTarget(call),
      ...(called && { seen: called.taskId }),
      request: { message },
      ...(!isAnswer && { complete: (it) => this.talks.withSource(it, source, context.call.scope) }),
      admit: () => this.calledAgents.spendCall(),
    };
  }

  private toTalkRequest({ message }: JsonObject): Parameters<AgentTalks['requestMessage']>[0] {
    const { reference, credential, limit, talk } = this.config;
    const { maxTurns, announce } = talk;
    return {
      requester: this.calledAgents.execution.context.call.agent,
      target: reference,
      message: argumentText(message),
      maxTurns,
      timeoutMs: Math.round(limit),
      ...(announce !== undefined && { announce }),
      ...(credential !== undefined && { credential }),
    };
  }

  private talkTarget({ id }: LoggedToolCall): CalledAgent {
    return this.calledAgents.resolveCalledAgent(this.config, id);
  }

  private createCalledNote({ id }: LoggedToolCall, { taskId, contextId }: AgentTask): CalledNote {
    return { call: id, agent: this.reference, taskId, contextId };
  }
}

function isWaiting(state: Parameters<typeof isWaitingState>[0] | undefined): boolean {
  return state !== undefined && isWaitingState(state);
}

function argumentText(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** Maximum depth of a chain of calls within this service. An agent at this depth may call no further agents. */
const DEEPEST_AGENTS = 8;

/** Agents that one execution of an `agent` node may call as tools. `calls` has the calls that are in progress. */
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
   * Returns the agent tools that the model is offered; none if the chain of calls is too long.
   * @param inConversation true if the Task is a turn of a conversation. Such a turn begins no further conversation.
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

  /** Closes the connections of all calls. The called agents continue to work. */
  closeConnections(): void {
    this.calls.abort();
  }

  /**
   * Cancels the Task of the call in progress and the Tasks of called agents that wait for an answer, yields the
   * outcomes, and ends the Task of the node as CANCELED.
   */
  async *cancelAndReport(): AsyncGenerator<NodeEvent, void, void> {
    const canceled = await this.cancelAll();
    for (const events of canceled) yield* events;
    yield statusUpdate(this.execution.context, 'TASK_STATE_CANCELED');
  }

  /**
   * Cancels the Task of the call in progress and the Tasks of called agents that wait for an answer, without yielding
   * events. Never throws.
   */
  async endAll(): Promise<void> {
    await this.cancelAll().catch(() => undefined);
  }

  /**
   * Cancels the Tasks of called agents that wait for an answer, because the turn ends and no answer will come. Never
   * throws.
   */
  async endWaiting(): Promise<void> {
    await Promise.all(this.execution.log.calledAgents.waiting.map((it) => this.cancelWaiting(it)));
  }

  /**
   * Cancels the Task of the call in progress and the Tasks of called agents that wait for an answer.
   * @returns a list of events for each canceled Task
   */
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

  /**
   * Returns the id of the Task of a call in progress. It is the Task that the call created, or the waiting Task that
   * the call answers; `undefined` if neither is known.
   */
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
