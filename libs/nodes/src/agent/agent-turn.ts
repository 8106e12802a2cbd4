import { AGENT_TOOL, type RequestContext } from '#libs/agents';
import { matchesGlob } from '#libs/mcp-client';
import {
  coalesceText,
  ECHO_MODEL,
  type Model,
  type ModelCall,
  type ModelEnd,
  ModelError,
  type ModelEvent,
  type ModelMessage,
  type Models,
  type ModelToolCall,
  type StructuredAnswer,
  type WantedModel,
} from '#libs/models';
import {
  briefText,
  dataPart,
  type FailureNote,
  type Message,
  parseJson,
  type Part,
  textPart,
  UnfitJson,
} from '#libs/protocol';
import { type NodeEvent, NodeFailure } from '../node-executor.js';
import {
  type AskedCall,
  type CallQuestion,
  callQuestion,
  modelError,
  type ModelFailure,
  modelRequest,
  modelResponse,
  noteAbout,
  PromptedCall,
  toolCall,
  toolResult,
} from './agent-events.js';
import {
  type AgentLog,
  answerReport,
  type BrainstormRequest,
  type EarlierSources,
  type LoggedToolCall,
  planOmission,
  readEarlierMessages,
  saidBefore,
} from './agent-log.js';
import type { AgentNodeSettings } from './agent-settings.js';
import { callerOf, modelTools, type OfferedTool, type WireNames } from './agent-tools.js';
import { AnswerInPieces } from './answer-pieces.js';
import type { ModelBudget } from './model-budget.js';

/** State and services of one execution of an `agent` node. */
export interface AgentNodeTurn extends EarlierSources {
  /** Id of the node, which is also the id of its Artifact. */
  node: string;
  context: RequestContext;
  settings: AgentNodeSettings;
  models: Models;
  tools: readonly OfferedTool[];
  wire: WireNames;
  /** Required form of the answer (`output`), if any. */
  structure: StructuredAnswer | undefined;
  log: AgentLog;
  /** Budgets that limit the calls of models; absent: there are none. */
  budget?: ModelBudget;
  /** Request of a brainstorm in the Message that began the Task, if any. */
  brainstorm?: BrainstormRequest;
}

/**
 * Builds the messages for a model: system prompts, memory, and the Messages of this Task. The built-in model `echo`
 * gets no memory.
 * @param omitted number of the oldest messages of the memory that are omitted
 */
async function buildConversation(turn: AgentNodeTurn, model: string, omitted: number): Promise<ModelMessage[]> {
  const { settings, log, context, brainstorm } = turn;
  const earlier = model === ECHO_MODEL ? undefined : await readEarlierMessages(turn, omitted);
  const prompts = [settings.systemPrompt, brainstorm?.systemPrompt, instructionsOf(turn, earlier?.saidCount)];
  const system = prompts.filter((text) => text !== undefined);
  const [first, ...others] = openingOf(log, context);
  const opening = first ? [{ ...first, ...(brainstorm && { parts: brainstorm.parts }) }, ...others] : [];
  return [
    ...(system.length === 0 ? [] : [{ role: 'system' as const, parts: [{ text: system.join('\n\n') }] }]),
    ...(earlier?.messages ?? []),
    ...opening.map(({ role, parts }): ModelMessage => ({ role: role === 'ROLE_USER' ? 'user' : 'assistant', parts })),
    ...log.messagesToSend.map((said) => onWire(said, turn.wire)),
  ];
}

/**
 * Returns the Messages with which the Task began. Before the log has its first event, they are the history of the Task
 * and the current Message.
 */
export function openingOf(log: AgentLog, context: Pick<RequestContext, 'task' | 'userMessage'>): Message[] {
  return log.opening.length > 0 ? log.opening : [...(context.task?.history ?? []), context.userMessage];
}

/**
 * Returns the instructions of the conversation to which the Message belongs; `undefined` if it belongs to none. For an
 * agent with the role `announcer`, they also state how many texts of the conversation are omitted because they do not
 * fit in the agent's memory.
 * @param kept number of texts of the conversation that the agent gets
 */
function instructionsOf(
  turn: Pick<AgentNodeTurn, 'settings' | 'entries'>,
  kept = saidBefore(turn).length,
): string | undefined {
  const { current, opening } = turn.entries;
  if (current?.role !== 'announcer') return current?.instructions;
  const omitted = (opening?.said?.length ?? 0) - kept;
  if (omitted === 0) return current.instructions;
  const left = kept === 0 ? 'only the last of these texts' : `these texts without the ${omitted} oldest`;
  return `${current.instructions}\nYour memory is limited: you are sent ${left}.`;
}

/** Returns a copy of a message for the model: tool names are in the form that providers accept (wire names). */
function onWire(said: ModelMessage, wire: WireNames): ModelMessage {
  const withWireName = <T extends { name: string }>(it: T): T => ({ ...it, name: wire.toWireName(it.name) });
  if (said.role === 'tool') return { ...said, results: said.results.map(withWireName) };
  return said.role === 'assistant' && said.toolCalls ? { ...said, toolCalls: said.toolCalls.map(withWireName) } : said;
}

const EMPTY = 'gave an empty answer';

type ModelStepEvents = AsyncGenerator<NodeEvent, void, void>;

/**
 * Calls a model for its next answer, and yields the answer in pieces as it arrives.
 * - A call that a crash interrupted is made again. The new Artifact replaces the pieces that were yielded before.
 * - If a model fails and another model may answer instead (`fallbacks`), the next model is called.
 * - If the context of the last model has no room for the conversation, the model is called again without the older half
 *   of the memory.
 * @throws NodeFailure if no model answers, or the limit of steps or tokens is reached
 */
export async function* modelStep(turn: AgentNodeTurn): ModelStepEvents {
  const { context, log, models } = turn;
  refuseMore(turn);
  const step = log.open?.step ?? log.step + 1;
  const names = turn.settings.models;
  const modelNameAt = (at: number): string => names[at] ?? models.defaultModel.name;
  const first = names.findIndex((_, at) => modelNameAt(at) === log.open?.model);
  let { omitted } = log;
  for (let at = Math.max(first, 0); ;) {
    const prompted = new PromptedCall(context, step);
    try {
      const model = await models.findModel(names[at], wantedModel(turn));
      return yield* askedFor(turn, model, { step, isLast: at + 1 >= names.length, prompted, omitted });
    } catch (error) {
      if (!(error instanceof ModelError)) throw error;
      const hasFallback = error.fallback && at + 1 < names.length;
      const omission = hasFallback ? undefined : await planOmission(turn, error, omitted);
      const isCalledAgain = hasFallback || omission !== undefined;
      const attempt = {
        model: modelNameAt(at),
        step,
        ...(isCalledAgain && { next: modelNameAt(hasFallback ? at + 1 : at) }),
      };
      const note = noteOf(error);
      yield prompted.attachError(modelError(context, failureOf(error, attempt), note), error.message);
      if (!isCalledAgain) throw new NodeFailure(error.message, { cause: error, note });
      omitted = omission ?? omitted;
      if (hasFallback) at += 1;
    }
  }
}

function failureOf(error: ModelError, attempt: Pick<ModelFailure, 'model' | 'step' | 'next'>): ModelFailure {
  const { message, status, usage } = error;
  return { ...attempt, message, ...(status !== undefined && { status }), ...(usage && { usage }) };
}

/** Returns the kind of a failure for retries (`retry.on`): an outage, or `cut`; `undefined` for any other failure. */
function noteOf({ outage, retryAfter, isTruncated }: ModelError): FailureNote | undefined {
  const kind = outage ?? (isTruncated ? 'cut' : undefined);
  return kind && { kind, ...(retryAfter !== undefined && { retryAfter }) };
}

function wantedModel({ context, brainstorm }: AgentNodeTurn): WantedModel {
  const { call, signal } = context;
  const credentials = brainstorm?.entry.credentials;
  return { tenant: call.scope.tenant, signal, ...(credentials && { credentials }) };
}

function refuseMore({ log, settings: { maxSteps, budget } }: AgentNodeTurn): void {
  if (budget !== undefined && log.tokens >= budget)
    throw new NodeFailure(`${log.tokens} tokens are used of the ${budget} in budget.tokens`);
  const isNew = log.open === undefined && log.answer === undefined;
  if (isNew && log.step - log.mended.length >= maxSteps)
    throw new NodeFailure(`the model was called ${maxSteps} times (maxSteps) and has no answer yet`);
}

/** Attempt of a step: see the parameters of `askedFor`. */
interface ModelAttempt {
  step: number;
  isLast: boolean;
  prompted: PromptedCall;
  omitted: number;
}

/**
 * Calls one model of the agent, and yields the events of its answer.
 * @param isLast true if no further model may be called; then an empty answer is accepted
 * @param omitted number of the oldest messages of the memory that are omitted
 * @throws ModelError if the model gives no whole answer, or an empty one that is not accepted
 */
async function* askedFor(
  turn: AgentNodeTurn,
  model: Model,
  { step, isLast, prompted, omitted }: ModelAttempt,
): ModelStepEvents {
  const { context, log, settings, structure } = turn;
  // The memory is decided once and recorded, so that a replica that adopts the Task gives the model the same memory.
  const isDecided = log.remembered !== undefined || model.name === ECHO_MODEL;
  const remembered = isDecided ? undefined : (await turn.recallEarlier()).taskIds;
  const { signal } = context;
  const call: ModelCall = {
    messages: await buildConversation(turn, model.name, omitted),
    ...(turn.tools.length > 0 && { tools: modelTools(turn.tools, turn.wire) }),
    ...(settings.temperature !== undefined && { temperature: settings.temperature }),
    ...(settings.topP !== undefined && { topP: settings.topP }),
    ...(settings.stop !== undefined && { stop: settings.stop }),
    ...(settings.maxTokens !== undefined && { maxTokens: settings.maxTokens }),
    ...(structure && { output: structure.schema, ...(isDescribed(turn) && { isOutputDescribed: true }) }),
    ...((structure || model.toolCalls === 'schema') && mustAnswer(turn, step) && { isAnswerOnly: true }),
    reader: context.call.scope,
    signal,
  };
  const { budget } = turn;
  if (budget && !(yield* budget.admitCall(model, call, log.raise))) return;
  yield await prompted.attachRequest(
    modelRequest(context, { model: model.name, step, omitted }, remembered),
    model,
    call,
  );
  const answer = new AnswerInPieces(turn);
  const headers = context.trace?.headersBelow('chat', step, model.name);
  const events = model.streamAnswer({ ...call, ...(headers && { headers }) });
  let end: ModelEnd | undefined;
  const received = coalesceText<Exclude<ModelEvent, { text: string }>>(budget?.releaseRefused(events) ?? events);
  for await (const { text, event } of received) {
    answer.appendText(text);
    if (event === undefined) yield* answer.reportPieces();
    else if ('part' in event) answer.addPart(event.part);
    else if ('toolCall' in event) answer.calls.push(event.toolCall);
    else end = event.end;
  }
  signal.throwIfAborted();
  if (end === undefined) throw new ModelError(`model "${model.name}" broke off`, { fallback: true });
  const failed = { fallback: true, usage: end.usage };
  if (answer.isEmpty && !isLast) throw new ModelError(`model "${model.name}" ${EMPTY}`, failed);
  const note = noteAbout(answer.isEmpty ? EMPTY : end.note, omitted);
  yield* answer.reportRest(turn.brainstorm && answerReport(turn, end.usage));
  const toolCalls = askedCalls(turn, answer.calls, step);
  const used = end.usage && { usage: end.usage };
  const calls = toolCalls.length > 0 && { toolCalls };
  const response = { model: model.name, step, ...used, ...calls, ...(note !== undefined && { note }) };
  yield prompted.attachAnswer(modelResponse(context, response, end.kept), {
    end,
    parts: answer.received,
    toolCalls: calls
      ? toolCalls.map(({ tool, id, ...asked }) => ({ id, name: turn.wire.toWireName(tool), ...asked }))
      : [],
    ...(note !== undefined && { note }),
  });
}

/**
 * True if the model must now answer without calling a tool: it is asked to correct its answer, or this is the last call
 * that `maxSteps` permits.
 */
function mustAnswer({ log, settings: { maxSteps } }: AgentNodeTurn, step: number): boolean {
  const isCorrection = log.answer !== undefined || (log.mended.length > 0 && log.said.at(-1)?.role === 'user');
  return isCorrection || step - log.mended.length >= maxSteps;
}

/** True if the prompt of the brainstorm already describes the JSON Schema of the answer. */
function isDescribed({ brainstorm, structure }: AgentNodeTurn): boolean {
  return brainstorm !== undefined && brainstorm.entry.output === structure?.schema;
}

/**
 * Returns the requested calls, with wire names replaced by the tool names of the log. An id that is empty or used
 * before is replaced by a new one.
 */
function askedCalls(turn: AgentNodeTurn, calls: readonly ModelToolCall[], step: number): AskedCall[] {
  const ids = new Set<string>();
  return calls.map(({ id: said, name, args, malformed }, index) => {
    const id = said === '' || ids.has(said) || turn.log.hasCallId(said) ? `call-${step}-${index + 1}` : said;
    ids.add(id);
    const tool = turn.wire.findByWireName(name) ?? name;
    return { tool, id, args, ...(malformed !== undefined && { malformed }) };
  });
}

/** Maximum number of attempts of a repeatable call. If each was interrupted, a question follows. */
const TWICE = 2;
/** Maximum number of characters that the text of an approval question quotes from the arguments. */
const SHOWN = 2_000;

/**
 * Handles one tool call that a model requested: asks for approval if needed, records the call, makes it, and records
 * its result.
 * - If an earlier execution may have made the call, the call is made again only if its tool, the config or a person
 *   permits that.
 * - If a question is asked, the question is the last event, and the Task waits for the answer.
 * @throws NodeFailure if the outcome of the call is unknown and `onUncertain` is `fail`
 */
export async function* callStep(turn: AgentNodeTurn, call: LoggedToolCall): AsyncGenerator<NodeEvent, void, void> {
  const { context } = turn;
  const tool = turn.tools.find(({ name }) => name === call.tool);
  const refusal = refusalOf(call, tool);
  if (refusal !== undefined) return yield toolResult(context, call, { error: refusal });
  const question = call.made > 0 ? repetitionQuestion(turn, call, tool) : approvalQuestion(turn, call, tool);
  if (question) return yield callQuestion(context, question, callQuestionParts(turn, question.about, call, tool));
  if (tool === undefined) return;
  if ('runCall' in tool) return yield* tool.runCall(call);
  yield toolCall(context, call, call.step);
  await context.flush();
  const trace = context.trace?.headersBelow('tool', call.id);
  yield toolResult(context, call, await tool.invokeTool(call.args, { ...callerOf(context), ...(trace && { trace }) }));
}

/** Returns the reason why a call is not made, as text for the model; `undefined` if the call is made. */
function refusalOf(call: LoggedToolCall, tool: OfferedTool | undefined): string | undefined {
  if (call.approved === 'no') return 'the call was not approved';
  if (call.made > 0 && call.repeated === 'no') return `${CUT_OFF}, and it was decided not to make it again`;
  if (tool === undefined) return `${call.made > 0 ? `${CUT_OFF}, and ` : ''}there is no tool "${call.tool}"`;
  if (call.malformed !== undefined) return faultIn(call.malformed);
  return 'explainCallRefusal' in tool && call.made === 0 ? tool.explainCallRefusal(call) : undefined;
}

const CUT_OFF = 'the call was cut off: it is not known whether it was made';

function approvalQuestion(
  { settings }: AgentNodeTurn,
  call: LoggedToolCall,
  tool: OfferedTool | undefined,
): CallQuestion | undefined {
  if (call.approved === 'yes' || tool === undefined) return undefined;
  // `approve` may name an agent as `tools` does, or by the possibly shorter name of its tool.
  const names = 'reference' in tool ? [tool.name, `${AGENT_TOOL}${tool.reference}`] : [tool.name];
  const isNamed = settings.approve.some((pattern) => names.some((name) => matchesGlob(pattern, name)));
  const isAsked = tool.needsApproval || isNamed;
  return isAsked ? { about: 'approval', call: call.id } : undefined;
}

/**
 * Returns the question whether an interrupted call may be repeated. Returns `undefined` if the call is repeated without
 * a question.
 * @throws NodeFailure if a question is needed, and `onUncertain` is `fail`
 */
function repetitionQuestion(
  { settings }: AgentNodeTurn,
  call: LoggedToolCall,
  tool: OfferedTool | undefined,
): CallQuestion | undefined {
  if (tool && (isRepeatable(tool) ? call.made < TWICE : 'resumesCall' in tool && tool.resumesCall(call)))
    return undefined;
  if (settings.onUncertain === 'repeat' || call.repeated === 'yes') return undefined;
  if (settings.onUncertain === 'fail')
    throw new NodeFailure(`the call of the tool "${call.tool}" was cut off: it is not known whether it was made`);
  return { about: 'repetition', call: call.id };
}

function isRepeatable(tool: OfferedTool): boolean {
  return 'repeatable' in tool && tool.repeatable;
}

function callQuestionParts(
  { log }: AgentNodeTurn,
  about: CallQuestion['about'],
  call: LoggedToolCall,
  tool: OfferedTool | undefined,
): Part[] {
  const { args } = call;
  const shown = briefText(JSON.stringify(args), SHOWN);
  const named = tool && 'runCall' in tool ? `agent "${tool.name}" (${tool.reference})` : `tool "${call.tool}"`;
  const question =
    about === 'approval'
      ? `May the ${named} be called with ${shown}?`
      : `The call of the ${named} with ${shown} was cut off: it is not known whether it was made. Shall it be made again?`;
  const text = `${log.isUnanswered ? 'The answer has to be yes or no. ' : ''}${question} Answer yes or no.`;
  return [textPart(text), dataPart({ tool: call.tool, args })];
}

/** Returns a text for the model that describes why the arguments of its call could not be parsed as JSON. */
function faultIn(malformed: string): string {
  try {
    parseJson(malformed);
  } catch (error) {
    if (error instanceof UnfitJson) return `the arguments are refused: ${error.message}`;
  }
  return 'the arguments are not a JSON object';
}
