import type { RequestContext } from '#libs/executor';
import { ECHO_MODEL, type ModelMessage, type Models } from '#libs/models';
import type { Message } from '#libs/protocol';
import type { AgentLog } from './agent-log.js';
import type { AgentSettings } from './agent-settings.js';
import type { AgentTool, ToolCaller } from './agent-tools.js';
import type { StructuredAnswer } from './structured-answer.js';
import { wireName } from './wire-name.js';

/** What an agent works with while one execution lasts. */
export interface AgentTurn {
  /** The node's id, which its Artifact has too. */
  node: string;
  context: RequestContext;
  settings: AgentSettings;
  models: Models;
  tools: readonly AgentTool[];
  /** What the answer has to be, where that is said. */
  structure: StructuredAnswer | undefined;
  log: AgentLog;
  /** What was said before the Task. */
  earlier(): Promise<ModelMessage[]>;
}

/** For whom the tools of a turn are called. */
export function callerOf({ call, signal }: RequestContext): ToolCaller {
  return { ...call.scope, signal };
}

/** The tool that a model means. */
export function toolCalled({ tools }: Pick<AgentTurn, 'tools'>, name: string): AgentTool | undefined {
  return tools.find((tool) => tool.name === name) ?? tools.find((tool) => wireName(tool.name) === name);
}

/** The conversation as a model is told it: what it is, what was said before and in this Task. The echo needs no past. */
export async function conversation(turn: AgentTurn, model: string): Promise<ModelMessage[]> {
  const { settings, log, context } = turn;
  const { systemPrompt } = settings;
  const opening: Message[] =
    log.opening.length > 0 ? log.opening : [...(context.task?.history ?? []), context.userMessage];
  return [
    ...(systemPrompt === undefined ? [] : [{ role: 'system' as const, parts: [{ text: systemPrompt }] }]),
    ...(model === ECHO_MODEL ? [] : await turn.earlier()),
    ...opening.map(modelMessage),
    ...log.said,
  ];
}

function modelMessage({ role, parts }: Message): ModelMessage {
  return { role: role === 'ROLE_USER' ? 'user' : 'assistant', parts };
}
