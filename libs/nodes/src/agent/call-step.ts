import { AGENT_TOOL } from '#libs/executor';
import { matchesGlob } from '#libs/mcp-client';
import { briefText, dataPart, parseJson, type Part, textPart, UnfitJson } from '#libs/protocol';
import type { NodeEvent } from '../node-executor.js';
import { NodeFailure } from '../node-failure.js';
import { type CallQuestion, callQuestion, toolCall, toolResult } from './agent-events.js';
import type { LoggedCall } from './agent-log.js';
import { type AgentTurn, callerOf } from './agent-turn.js';
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
export async function* callStep(turn: AgentTurn, call: LoggedCall): AsyncGenerator<NodeEvent, void, void> {
  const { context } = turn;
  const tool = turn.tools.find(({ name }) => name === call.tool);
  const refusal = refusalOf(call, tool);
  if (refusal !== undefined) return yield toolResult(context, call, { error: refusal });
  const question = call.made > 0 ? repetition(turn, call, tool) : approval(turn, call, tool);
  if (question) return yield callQuestion(context, question, words(turn, question.about, call, tool));
  if (tool === undefined) return;
  if ('steps' in tool) return yield* tool.steps(call);
  yield toolCall(context, call, call.step);
  await context.flush();
  const trace = context.trace?.headers('tool', call.id);
  yield toolResult(context, call, await tool.call(call.args, { ...callerOf(context), ...(trace && { trace }) }));
}

/** Returns why a call is not made, for the model to read. */
function refusalOf(call: LoggedCall, tool: OfferedTool | undefined): string | undefined {
  if (call.approved === 'no') return 'the call was refused by whoever was asked about it';
  if (call.made > 0 && call.repeated === 'no') return `${CUT_OFF}, and it was decided not to make it again`;
  if (tool === undefined) return `${call.made > 0 ? `${CUT_OFF}, and ` : ''}there is no tool "${call.tool}"`;
  if (call.malformed !== undefined) return faultIn(call.malformed);
  return 'refusal' in tool && call.made === 0 ? tool.refusal(call) : undefined;
}

const CUT_OFF = 'the call was cut off: it is not known whether it was made';

function approval({ settings }: AgentTurn, call: LoggedCall, tool: OfferedTool | undefined): CallQuestion | undefined {
  if (call.approved === 'yes' || tool === undefined) return undefined;
  // `approve` may name an agent as `tools` does, or by the possibly shorter name of its tool.
  const names = 'reference' in tool ? [tool.name, `${AGENT_TOOL}${tool.reference}`] : [tool.name];
  const isNamed = settings.approve.some((pattern) => names.some((name) => matchesGlob(pattern, name)));
  const isAsked = tool.needsApproval || isNamed;
  return isAsked ? { about: 'approval', call: call.id } : undefined;
}

/** @throws NodeFailure if the config says to fail */
function repetition(
  { settings }: AgentTurn,
  call: LoggedCall,
  tool: OfferedTool | undefined,
): CallQuestion | undefined {
  if (tool && (isRepeatable(tool) ? call.made < TWICE : 'resumes' in tool && tool.resumes(call))) return undefined;
  if (settings.onUncertain === 'repeat' || call.repeated === 'yes') return undefined;
  if (settings.onUncertain === 'fail')
    throw new NodeFailure(`the call of the tool "${call.tool}" was cut off: it is not known whether it was made`);
  return { about: 'repetition', call: call.id };
}

function isRepeatable(tool: OfferedTool): boolean {
  return 'repeatable' in tool && tool.repeatable;
}

function words(
  { log }: AgentTurn,
  about: CallQuestion['about'],
  call: LoggedCall,
  tool: OfferedTool | undefined,
): Part[] {
  const { args } = call;
  const shown = briefText(JSON.stringify(args), SHOWN);
  const named = tool && 'steps' in tool ? `agent "${tool.name}" (${tool.reference})` : `tool "${call.tool}"`;
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
