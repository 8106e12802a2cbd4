import { AgentCallError, type CalledTask, withoutCredentialName } from '#libs/a2a-client';
import {
  type AgentCall,
  type CallFailure,
  type CallOutcome,
  type CallProgress,
  needsPerson,
  NodeProgress,
  type PlannedCall,
  questionParts,
  questionText,
} from '#libs/durable';
import { retryWhileUnreachable } from '#libs/postgres';
import {
  A2A_ERRORS,
  dataPart,
  derivedId,
  isFilePart,
  isJsonObject,
  isWaitingState,
  type JsonObject,
  type JsonValue,
  type Part,
  runEventNote,
  type RunEventNote,
  textPart,
  textRows,
  userMessage,
} from '#libs/protocol';
import type { TaskStore } from '#libs/tasks';
import type { NodeEvent } from '../node-executor.js';
import {
  agentCalled,
  agentProgress,
  agentQuestion,
  type AgentTask,
  type CalledNote,
  toolCall,
  type ToolOutcome,
  toolResult,
} from './agent-events.js';
import type { LoggedToolCall } from './agent-log.js';
import { type AgentToolConfig, shownReference } from './agent-tool-config.js';
import { type AgentToolCalls, argumentFault, type SelfRecordingTool, truncateResult } from './agent-tools.js';
import { MESSAGE_SCHEMA, type OfferedAgent } from './offered-agent.js';

/** Number of events of a log that one query reads. */
const PAGE = 100;

/** Returns the number of tokens that the log of a local Task records; 0 if there is no such Task. */
async function loggedTokens(store: Pick<TaskStore, 'readEvents'>, taskId: string): Promise<number> {
  let tokens = 0;
  for (let after = 0; ;) {
    const events = await store.readEvents(taskId, after, PAGE);
    for (const { event } of events)
      if ('statusUpdate' in event) tokens += tokensIn(runEventNote(event.statusUpdate.metadata));
    if (events.length < PAGE) return tokens;
    after += events.length;
  }
}

/**
 * Returns the number of tokens that a run event of a called agent reports: those of a model call, or those of further
 * agents that the called agent has called.
 */
function tokensIn({ type, payload }: Partial<RunEventNote> = {}): number {
  const usage = payload?.['usage'];
  if (type === 'tool.result') return numberOf(payload?.['tokens']);
  // A failed call may have used tokens, too.
  if ((type !== 'model.response' && type !== 'model.error') || !isJsonObject(usage)) return 0;
  return numberOf(usage.inputTokens) + numberOf(usage.outputTokens);
}

function numberOf(value: JsonValue | undefined): number {
  return typeof value === 'number' ? value : 0;
}

/** Returns the result of a call for the model: the answer of the called agent. */
function calledAgentResult({ reply, artifacts, lastMessage: said }: CalledTask): JsonObject {
  const made = reply || artifacts.length === 0 ? (said ? [said] : []) : artifacts;
  const parts = made.flatMap((it) => it.parts);
  const text = made.flatMap((it) => textRows(it.parts)).filter((row) => row !== '');
  const data = parts.flatMap((part) => (part.data === undefined ? [] : [part.data]));
  const files = parts.filter(isFilePart).map(describeFile);
  return {
    status: 'completed',
    ...(text.length > 0 && { text: text.join('\n\n') }),
    ...(data.length > 0 && { data: data.length === 1 ? (data[0] as JsonValue) : data }),
    ...(files.length > 0 && { files }),
  };
}

/** Returns the result of a call for the model if the called agent asks a question that the model may answer. */
function questionResult(answer: CalledTask): JsonObject {
  return { status: 'input-required', text: questionText(answer) };
}

function describeFile({ filename, mediaType, url }: Part): JsonObject {
  return { ...(filename !== undefined && { name: filename }), ...(mediaType && { mediaType }), ...(url && { url }) };
}

/**
 * Report while a call is in progress: a received response, or a note about the progress. There is at most one note in
 * 250 ms.
 */
type CallReport = { received: CallProgress } | { progress: RunEventNote };

/**
 * Runs a call to its end, and yields reports about the progress of the called agent.
 * @throws the reason of an abort
 */
async function* reportedCall(
  call: Pick<AgentCall, 'runCall' | 'abort' | 'delay'>,
): AsyncGenerator<CallReport, void, undefined> {
  const notes: RunEventNote[] = [];
  let noted = Promise.withResolvers<undefined>();
  using progress = new NodeProgress((note) => {
    notes.push(note);
    noted.resolve(undefined);
  });
  progress.followDelay(call);
  const responses = call.runCall();
  let isOver = false;
  const nextResponse = async (): Promise<IteratorResult<CallProgress, void>> => {
    const next = await responses.next();
    isOver = next.done === true;
    return next;
  };
  let next = nextResponse();
  try {
    for (;;) {
      // Avoids an unhandled rejection if the reader leaves.
      next.catch(() => undefined);
      const first = await Promise.race([next, noted.promise]);
      if (first === undefined) {
        noted = Promise.withResolvers<undefined>();
        for (const note of notes.splice(0)) yield { progress: note };
        continue;
      }
      if (first.done) return;
      progress.takeResponse(first.value.response);
      yield { received: first.value };
      next = nextResponse();
    }
  } finally {
    if (!isOver) call.abort();
  }
}

/** Number of tokens that a called agent reported during one call. */
interface ReportedTokens {
  tokens: number;
  /** True if the call has received all events of the Task since its Message, so that `tokens` is complete. */
  isAll: boolean;
}

type AgentToolEvents = AsyncGenerator<NodeEvent, void, void>;

/**
 * Tool of an `agent` node by which the model calls another agent.
 * - A call is sent only after its `tool.call` event is durable. The Task of the called agent is recorded in the log
 *   (`parley/called`) as soon as its id is known.
 * - If an interrupted call has such a record, the next execution follows the recorded Task.
 * - Without a record, a local agent is sent the same Message again, which creates no second Task. For a remote agent,
 *   the outcome of the call is unknown.
 * - All calls in one Task share one context of the called agent. A call answers the Task that an earlier call left
 *   waiting.
 */
export class CalledAgentTool implements SelfRecordingTool {
  readonly name: string;
  readonly reference: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly needsApproval = false;

  constructor(
    private readonly calledAgents: AgentToolCalls,
    private readonly config: AgentToolConfig,
    private readonly offered: OfferedAgent,
  ) {
    this.name = config.tool;
    this.reference = shownReference(config);
    this.description = offered.description;
    this.inputSchema = offered.inputSchema;
  }

  explainCallRefusal({ args }: LoggedToolCall): string | undefined {
    const { maxCalls, tool } = this.config;
    if (this.log.calledAgents.countCalls(tool) >= maxCalls)
      return `"${tool}" was called ${maxCalls} times already (maxCalls)`;
    const isAnswer =
      this.log.calledAgents.waitingOf(tool) !== undefined && argumentFault(MESSAGE_SCHEMA, args) === undefined;
    const wrong = isAnswer ? undefined : argumentFault(this.inputSchema, args);
    return wrong && `the arguments are refused: ${wrong}`;
  }

  resumesCall(call: LoggedToolCall): boolean {
    if (call.made === 0) return false;
    return this.isOwn || call.called !== undefined || this.log.calledAgents.waitingOf(this.name) !== undefined;
  }

  async *runCall(call: LoggedToolCall): AgentToolEvents {
    const { calls, execution } = this.calledAgents;
    const { context } = execution;
    const { reference } = this.calledAgents.resolveCalledAgent(this.config, call.id);
    const isResumed = this.resumesCall(call);
    if (!isResumed) {
      calls.announceCall(reference);
      yield toolCall(context, call, call.step);
    }
    const open = await calls.openCall(this.planCall(call));
    let tokens = 0;
    // A Task that is followed does not repeat its earlier events.
    let snapshots = isResumed ? 1 : 0;
    for await (const report of reportedCall(open)) {
      if ('progress' in report) {
        yield agentProgress(context, call, report.progress);
        continue;
      }
      const { seen, step, response } = report.received;
      tokens += this.isOwn ? tokensIn(step) : 0;
      snapshots += 'task' in response ? 1 : 0;
      if (seen && seen.taskId !== call.called?.taskId)
        yield agentCalled(context, call, this.createCalledNote(call, seen));
    }
    calls.close(reference);
    const reported = { tokens, isAll: snapshots < 2 };
    yield* this.reportEnd(call, open, await this.tokensOf(call, open, reported));
  }

  /**
   * Returns the number of tokens that the called agent used for a call, including tokens that it reported before it
   * asked a question.
   */
  private async tokensOf({ called }: LoggedToolCall, { taskId }: AgentCall, reported: ReportedTokens): Promise<number> {
    const tokens = reported.tokens + (called?.tokens ?? 0);
    if (!this.isOwn || reported.isAll || taskId === undefined) return tokens;
    const { services, execution } = this.calledAgents;
    const logged = await retryWhileUnreachable(() => loggedTokens(services.tasks, taskId), execution.context.signal);
    // If the called agent runs in this process, the end of its log may not be durable yet.
    return Math.max(tokens, logged - this.log.calledAgents.tokensOf(taskId));
  }

  private *reportEnd(call: LoggedToolCall, open: AgentCall, tokens: number): Generator<NodeEvent> {
    const { context } = this.calledAgents.execution;
    const { outcome, answer } = open;
    const { taskId, contextId = (call.called ?? this.answeredTask(call))?.contextId ?? '' } = answer;
    const called: CalledNote | undefined =
      taskId === undefined
        ? undefined
        : {
            ...this.createCalledNote(call, { taskId, contextId }),
            ...this.standingAtEnd(call, outcome),
            ...(tokens > 0 && { tokens }),
          };
    if (outcome.kind === 'waiting' && called && (this.config.onQuestion === 'ask' || needsPerson(answer))) {
      yield agentQuestion(context, called, questionParts(this.name, answer), answer.status?.message);
    } else yield toolResult(context, call, this.toToolOutcome(outcome), called);
  }

  /**
   * Returns the state of the called agent's Task at the end of a call, for the record in the log. If the call failed
   * and the Task may still wait for an answer:
   * - If the call sent the model's answer to the waiting Task and the answer may not have arrived, the state stays as
   *   it was. The next call answers the Task.
   * - In all other cases the result is `left`, and no later call answers the Task: the agent rejected the answer, the
   *   call timed out, the answer was a person's, or the call itself created the Task.
   */
  private standingAtEnd({ answer }: LoggedToolCall, outcome: CallOutcome): Pick<CalledNote, 'state' | 'left'> {
    const { state, taskId } = outcome.answer;
    const mayWait = state === undefined || isWaitingState(state);
    if (outcome.kind !== 'failed' || !mayWait) return state === undefined ? {} : { state };
    const waiting = answer ? undefined : this.log.calledAgents.waitingOf(this.name);
    if (waiting?.taskId !== taskId || isOver(outcome.failure)) return { left: true };
    return { state: waiting?.state ?? 'TASK_STATE_INPUT_REQUIRED' };
  }

  private toToolOutcome(outcome: CallOutcome): ToolOutcome {
    const { answer } = outcome;
    if (outcome.kind === 'completed') return truncateResult(calledAgentResult(answer));
    if (outcome.kind === 'waiting') return truncateResult(questionResult(answer));
    const { kind, message, cause } = outcome.failure;
    if (kind === 'internal') throw cause;
    const errorForModel = withoutCredentialName(cause, 'this agent');
    return {
      error: `the call of "${this.name}" failed: ${message}`,
      ...(errorForModel !== undefined && { errorForModel }),
    };
  }

  private planCall(call: LoggedToolCall): PlannedCall {
    const { calledAgents, config, log } = this;
    const { taskId } = calledAgents.execution.context;
    const { id, answer, called, since } = call;
    const task = this.answeredTask(call);
    const contextId = task?.contextId ?? log.calledAgents.contextOf(config.tool);
    const message = userMessage(answer?.parts ?? this.partsFromArguments(call.args), {
      messageId: derivedId(taskId, 'tool', id, ...(answer ? [answer.messageId] : [])),
      ...(contextId && { contextId }),
      ...(task && { taskId: task.taskId }),
    });
    return {
      ...calledAgents.resolveCalledAgent(config, id),
      ...(called && { seen: called.taskId }),
      request: { message },
      ...(answer === undefined && { adapt: () => undefined }),
      admit: () => calledAgents.spendCall(),
      limit: config.limit,
      ...(since !== undefined && { since }),
    };
  }

  /**
   * Returns the Parts to send for a call: the inputs of a workflow as data, else the argument `message` as text, with
   * `data` if given.
   */
  private partsFromArguments(args: JsonObject): Part[] {
    const { message, data } = args;
    const isMessage =
      typeof message === 'string' && (!this.offered.isTyped || argumentFault(this.inputSchema, args) !== undefined);
    if (!isMessage) return [dataPart(args)];
    return [textPart(message), ...(isJsonObject(data) ? [dataPart(data)] : [])];
  }

  /** Returns the waiting Task whose question a call answers; `undefined` if the call begins a new Task. */
  private answeredTask({ answer, called }: LoggedToolCall): AgentTask | undefined {
    return answer ? called : this.log.calledAgents.waitingOf(this.config.tool);
  }

  private createCalledNote({ id }: LoggedToolCall, { taskId, contextId }: AgentTask): CalledNote {
    return { call: id, agent: this.reference, taskId, contextId };
  }

  private get isOwn(): boolean {
    return this.calledAgents.resolveCalledAgent(this.config, '').own === true;
  }

  private get log() {
    return this.calledAgents.execution.log;
  }
}

/**
 * True if, after this failure of a call, no later call answers the waiting Task: the agent rejected the Message of the
 * call, or the call has timed out.
 */
function isOver({ kind, timedOut, rateLimited, cause }: CallFailure): boolean {
  if (timedOut) return true;
  // A local agent reports this error while its database is unreachable.
  if (!(cause instanceof AgentCallError) || rateLimited || cause.code === A2A_ERRORS.INTERNAL.code) return false;
  return kind === 'rpc-error' || kind === 'client-error' || kind === 'not-found';
}
