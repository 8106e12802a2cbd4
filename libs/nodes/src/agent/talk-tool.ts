import type { AgentTalks, CalledAgent, PlannedCall, TalkOutcome } from '#libs/process';
import {
  derivedId,
  isWaitingState,
  type JsonObject,
  type JsonValue,
  type Part,
  textPart,
  userMessage,
} from '#libs/protocol';
import type { NodeEvent } from '../node-executor.js';
import { agentCalled, agentQuestion, type AgentTask, type CalledNote, toolCall, toolResult } from './agent-events.js';
import type { LoggedToolCall } from './agent-log.js';
import { type AgentToolConfig, shownReference } from './agent-tool-config.js';
import { truncateResult, type SelfRecordingTool } from './agent-tools.js';
import { argumentFault } from './argument-fault.js';
import type { AgentToolCalls } from './called-agent-services.js';
import type { OfferedAgent } from './offered-agent.js';
import { saidBeforeCall } from './said-before-call.js';
import type { TalkConfig } from './talk-config.js';

type TalkToolEvents = AsyncGenerator<NodeEvent, void, void>;

/** Agent that a model may begin a conversation with. */
export type TalkingAgent = AgentToolConfig & { talk: TalkConfig };

/**
 * Conversation with an agent as a tool of an `agent` node.
 * - A call is one Task of this service's `conversations` agent, however often the call is repeated.
 * - The Task is recorded (`parley/called`) once it is seen. After that, its log alone decides the outcome of the call.
 * - Each turn counts in the budget of the root, as the call does.
 */
export class TalkTool implements SelfRecordingTool {
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
      // A paused conversation must first receive the caller's answer.
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
