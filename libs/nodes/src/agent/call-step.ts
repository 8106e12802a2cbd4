import { AGENT_TOOL } from '#libs/executor';
import { matchesGlob } from '#libs/mcp-client';
import { briefText, dataPart, parseJson, type Part, textPart, UnfitJson } from '#libs/protocol';
import type { NodeEvent } from '../node-executor.js';
import { NodeFailure } from '../node-failure.js';
import { type CallQuestion, callQuestion, toolCall, toolResult } from './agent-events.js';
import type { LoggedToolCall } from './agent-log.js';
import { type AgentNodeTurn, callerOf } from './agent-turn.js';
import type { OfferedTool } from './agent-tools.js';

/** Number of times that a repeatable call is made without a question. */
const TWICE = 2;
/** Maximum characters of arguments in a question's text. */
const SHOWN = 2_000;

/**
 * Handles one call requested by a model: asks for approval if needed, records the call, makes it, and records its
 * result.
 * - A call that may have been made by an earlier execution is repeated only if its tool or a person permits it.
 * - A question is the last event; the Task then waits.
 *
 * @throws NodeFailure if the config says to fail for a call with an unknown outcome
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

/** Returns why a call is not made, for the model to read. */
function refusalOf(call: LoggedToolCall, tool: OfferedTool | undefined): string | undefined {
  if (call.approved === 'no') return 'the call was refused by whoever was asked about it';
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

/** @throws NodeFailure if the config says to fail */
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

/** Returns the error for arguments that could not be parsed, for the model to read. */
function faultIn(malformed: string): string {
  try {
    parseJson(malformed);
  } catch (error) {
    if (error instanceof UnfitJson) return `the arguments are refused: ${error.message}`;
  }
  return 'the arguments are no JSON object';
}
