import type { ConversationEntry, RequestContext } from '#libs/executor';
import { ECHO_MODEL, type ModelMessage, type Models, type StructuredAnswer } from '#libs/models';
import type { Message } from '#libs/protocol';
import type { AgentLog } from './agent-log.js';
import type { Remembered } from './agent-memory.js';
import type { AgentNodeSettings } from './agent-settings.js';
import type { BrainstormRequest } from './brainstorm-request.js';
import { type SaidMessage, saidMessages } from './said-texts.js';
import type { OfferedTool, ToolCaller } from './agent-tools.js';
import type { WireNames } from './wire-names.js';

/** State and services of one execution of an agent. */
export interface AgentNodeTurn {
  /** Node's id, which is also that of its Artifact. */
  node: string;
  context: RequestContext;
  settings: AgentNodeSettings;
  models: Models;
  tools: readonly OfferedTool[];
  wire: WireNames;
  /** Required form of the answer, if any. */
  structure: StructuredAnswer | undefined;
  log: AgentLog;
  /** Conversation entries of the current Message, and of the Message that began the Task. */
  entries: { current?: ConversationEntry; opening?: ConversationEntry };
  /** Request of the brainstorm in the Message that began the Task. */
  brainstorm?: BrainstormRequest;
  /** Reads the memory of earlier Tasks, once for the turn. */
  recallEarlier(): Promise<Remembered>;
}

/** Returns the caller of a turn's tools. */
export function callerOf({ call, signal }: RequestContext): ToolCaller {
  return { ...call.scope, signal };
}

/**
 * Builds the conversation for a model: system prompts, memory, and this Task's Messages. The echo model gets no memory.
 */
export async function buildConversation(turn: AgentNodeTurn, model: string): Promise<ModelMessage[]> {
  const { settings, log, context, brainstorm } = turn;
  const prompts = [settings.systemPrompt, brainstorm?.systemPrompt, instructionsOf(turn)];
  const system = prompts.filter((text) => text !== undefined);
  const [first, ...others] = openingOf(log, context);
  const opening = first ? [{ ...first, ...(brainstorm && { parts: brainstorm.parts }) }, ...others] : [];
  return [
    ...(system.length === 0 ? [] : [{ role: 'system' as const, parts: [{ text: system.join('\n\n') }] }]),
    ...(model === ECHO_MODEL ? [] : [...(await turn.recallEarlier()).messages, ...saidBefore(turn)]),
    ...opening.map(modelMessage),
    ...log.said.map((said) => onWire(said, turn.wire)),
  ];
}

/** Returns the Messages that the Task began with. */
export function openingOf(log: AgentLog, context: Pick<RequestContext, 'task' | 'userMessage'>): Message[] {
  return log.opening.length > 0 ? log.opening : [...(context.task?.history ?? []), context.userMessage];
}

/** Returns the texts of the conversation that the agent did not receive itself, as far as they fit its memory. */
export function saidBefore({ settings, entries }: Pick<AgentNodeTurn, 'settings' | 'entries'>): SaidMessage[] {
  return settings.history === 'none' ? [] : saidMessages(entries.opening, settings.historyTokens);
}

/**
 * Returns the conversation's instructions. For an announcer they name the promised texts that do not fit its memory.
 */
function instructionsOf({ settings, entries }: Pick<AgentNodeTurn, 'settings' | 'entries'>): string | undefined {
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

/** Replaces the names of tools in the log by those on the wire. */
function onWire(said: ModelMessage, wire: WireNames): ModelMessage {
  const withWireName = <T extends { name: string }>(it: T): T => ({ ...it, name: wire.toWireName(it.name) });
  if (said.role === 'tool') return { ...said, results: said.results.map(withWireName) };
  return said.role === 'assistant' && said.toolCalls ? { ...said, toolCalls: said.toolCalls.map(withWireName) } : said;
}
