import type { ConversationEntry, RequestContext } from '#libs/executor';
import { ECHO_MODEL, type ModelMessage, type Models, type StructuredAnswer } from '#libs/models';
import type { Message } from '#libs/protocol';
import type { AgentLog } from './agent-log.js';
import type { Remembered } from './agent-memory.js';
import type { AgentSettings } from './agent-settings.js';
import type { BrainstormRequest } from './brainstorm-request.js';
import { type SaidMessage, saidMessages } from './said-texts.js';
import type { OfferedTool, ToolCaller } from './agent-tools.js';
import type { WireNames } from './wire-names.js';

/** What an agent works with while one execution lasts. */
export interface AgentTurn {
  /** The node's id, which its Artifact has too. */
  node: string;
  context: RequestContext;
  settings: AgentSettings;
  models: Models;
  tools: readonly OfferedTool[];
  wire: WireNames;
  /** What the answer has to be, where that is said. */
  structure: StructuredAnswer | undefined;
  log: AgentLog;
  /** What a conversation says of the Message that is worked on, and of the one that the Task began with. */
  entries: { current?: ConversationEntry; opening?: ConversationEntry };
  /** What a brainstorm asks with the Message that the Task began with. */
  brainstorm?: BrainstormRequest;
  /** Reads what was said before the Task, once for the turn. */
  earlier(): Promise<Remembered>;
}

/** For whom the tools of a turn are called. */
export function callerOf({ call, signal }: RequestContext): ToolCaller {
  return { ...call.scope, signal };
}

/** The conversation as a model is told it: what it is, what was said before and in this Task. The echo needs no past. */
export async function conversation(turn: AgentTurn, model: string): Promise<ModelMessage[]> {
  const { settings, log, context, brainstorm } = turn;
  const prompts = [settings.systemPrompt, brainstorm?.systemPrompt, instructionsOf(turn)];
  const system = prompts.filter((text) => text !== undefined);
  const [first, ...others] = openingOf(log, context);
  const opening = first ? [{ ...first, ...(brainstorm && { parts: brainstorm.parts }) }, ...others] : [];
  return [
    ...(system.length === 0 ? [] : [{ role: 'system' as const, parts: [{ text: system.join('\n\n') }] }]),
    ...(model === ECHO_MODEL ? [] : [...(await turn.earlier()).messages, ...saidBefore(turn)]),
    ...opening.map(modelMessage),
    ...log.said.map((said) => onWire(said, turn.wire)),
  ];
}

/** Returns what the Task began with. */
export function openingOf(log: AgentLog, context: Pick<RequestContext, 'task' | 'userMessage'>): Message[] {
  return log.opening.length > 0 ? log.opening : [...(context.task?.history ?? []), context.userMessage];
}

/** Returns what was said in the conversation that the agent was not sent, as far as its config has room for it. */
export function saidBefore({ settings, entries }: Pick<AgentTurn, 'settings' | 'entries'>): SaidMessage[] {
  return settings.history === 'none' ? [] : saidMessages(entries.opening, settings.historyTokens);
}

/** Returns what the conversation asks for. An announcer is told which of the promised texts its config has no room for. */
function instructionsOf({ settings, entries }: Pick<AgentTurn, 'settings' | 'entries'>): string | undefined {
  const { current, opening } = entries;
  if (current?.role !== 'announcer') return current?.instructions;
  const kept = saidBefore({ settings, entries }).length;
  const omitted = (opening?.said?.length ?? 0) - kept;
  if (omitted === 0) return current.instructions;
  const left = kept === 0 ? 'only the last of these texts' : `these texts without the ${omitted} oldest`;
  return `${current.instructions}\nYour memory is limited: you are sent ${left}.`;
}

function modelMessage({ role, parts }: Message): ModelMessage {
  return { role: role === 'ROLE_USER' ? 'user' : 'assistant', parts };
}

/** The log has tools by the names that they have elsewhere. */
function onWire(said: ModelMessage, wire: WireNames): ModelMessage {
  const named = <T extends { name: string }>(it: T): T => ({ ...it, name: wire.of(it.name) });
  if (said.role === 'tool') return { ...said, results: said.results.map(named) };
  return said.role === 'assistant' && said.toolCalls ? { ...said, toolCalls: said.toolCalls.map(named) } : said;
}
