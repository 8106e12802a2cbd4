import {
  coalesceText,
  ECHO_MODEL,
  type Model,
  type ModelEnd,
  ModelError,
  type ModelEvent,
  type ModelToolCall,
  type WantedModel,
} from '#libs/models';
import type { NodeEvent } from '../node-executor.js';
import { NodeFailure } from '../node-failure.js';
import { type AskedCall, modelError, modelRequest, modelResponse } from './agent-events.js';
import { modelTools } from './agent-tools.js';
import { type AgentNodeTurn, buildConversation } from './agent-turn.js';
import { AnswerInPieces } from './answer-in-pieces.js';
import { answerReport } from './brainstorm-request.js';

const EMPTY = 'gave an empty answer';

type ModelStepEvents = AsyncGenerator<NodeEvent, void, void>;

/**
 * Asks for the next answer of a model, and reports it as it arrives.
 * - An interrupted step is made again; its Artifact replaces what was reported.
 * - If a model fails for a reason of its own, the next model is asked.
 *
 * @throws NodeFailure if no model answers, or the limit of steps or tokens is reached
 */
export async function* modelStep(turn: AgentNodeTurn): ModelStepEvents {
  const { context, log, models } = turn;
  refuseMore(turn);
  const step = log.open?.step ?? log.step + 1;
  const names = turn.settings.models;
  const modelNameAt = (at: number): string => names[at] ?? models.defaultModel.name;
  const first = names.findIndex((_, at) => modelNameAt(at) === log.open?.model);
  for (let at = Math.max(first, 0); ; at += 1) {
    try {
      const model = await models.findModel(names[at], wantedModel(turn));
      return yield* askedFor(turn, model, { step, isLast: at + 1 >= names.length });
    } catch (error) {
      if (!(error instanceof ModelError)) throw error;
      const { message, status, outage, retryAfter } = error;
      const next = error.fallback && at + 1 < names.length ? modelNameAt(at + 1) : undefined;
      const failure = { model: modelNameAt(at), step, ...(status !== undefined && { status }), message };
      const note = outage && { kind: outage, ...(retryAfter !== undefined && { retryAfter }) };
      yield modelError(context, { ...failure, ...(next !== undefined && { next }) }, note);
      if (next === undefined) throw new NodeFailure(message, { cause: error, note });
    }
  }
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

/** @throws ModelError if the answer is empty and another model may be asked */
async function* askedFor(
  turn: AgentNodeTurn,
  model: Model,
  { step, isLast }: { step: number; isLast: boolean },
): ModelStepEvents {
  const { context, log, settings, structure } = turn;
  // Decided once and recorded, so that a replica that adopts the Task gives the model the same memory.
  const isDecided = log.remembered !== undefined || model.name === ECHO_MODEL;
  yield modelRequest(
    context,
    { model: model.name, step },
    isDecided ? undefined : (await turn.recallEarlier()).taskIds,
  );
  const tools = modelTools(turn.tools, turn.wire);
  const { signal } = context;
  const answer = new AnswerInPieces(turn);
  const events = model.streamAnswer({
    messages: await buildConversation(turn, model.name),
    ...(tools.length > 0 && { tools }),
    ...(settings.temperature !== undefined && { temperature: settings.temperature }),
    ...(settings.maxTokens !== undefined && { maxTokens: settings.maxTokens }),
    ...(structure && { output: structure.schema, ...(isDescribed(turn) && { isOutputDescribed: true }) }),
    ...(context.trace && { headers: context.trace.headersBelow('chat', step, model.name) }),
    reader: context.call.scope,
    signal,
  });
  let end: ModelEnd | undefined;
  for await (const { text, event } of coalesceText<Exclude<ModelEvent, { text: string }>>(events)) {
    answer.appendText(text);
    if (event === undefined) yield* answer.reportPieces();
    else if ('part' in event) answer.addPart(event.part);
    else if ('toolCall' in event) answer.calls.push(event.toolCall);
    else end = event.end;
  }
  signal.throwIfAborted();
  if (end === undefined) throw new ModelError(`model "${model.name}" broke off`, { fallback: true });
  if (answer.isEmpty && !isLast) throw new ModelError(`model "${model.name}" ${EMPTY}`, { fallback: true });
  const note = answer.isEmpty ? EMPTY : end.note;
  yield* answer.reportRest(turn.brainstorm && answerReport(turn, end.usage));
  const toolCalls = askedCalls(turn, answer.calls, step);
  const usage = end.usage ?? { inputTokens: 0, outputTokens: 0 };
  const calls = toolCalls.length > 0 && { toolCalls };
  const response = { model: model.name, step, usage, ...calls, ...(note !== undefined && { note }) };
  yield modelResponse(context, response, end.kept);
}

/** True if the prompt of a brainstorm already describes the schema. */
function isDescribed({ brainstorm, structure }: AgentNodeTurn): boolean {
  return brainstorm !== undefined && brainstorm.entry.output === structure?.schema;
}

/** Names the calls as the log does. An empty or repeated id is replaced. */
function askedCalls(turn: AgentNodeTurn, calls: readonly ModelToolCall[], step: number): AskedCall[] {
  const ids = new Set<string>();
  return calls.map(({ id: said, name, args, malformed }, index) => {
    const id = said === '' || ids.has(said) || turn.log.hasCallId(said) ? `call-${step}-${index + 1}` : said;
    ids.add(id);
    const tool = turn.wire.findByWireName(name) ?? name;
    return { tool, id, args, ...(malformed !== undefined && { malformed }) };
  });
}
