import { AgentCallError, type AgentDirectory } from '#libs/a2a-client';
import { argumentSchema, type ServedAgent, UnknownAgent } from '#libs/agents';
import type { AgentReferences } from '#libs/durable';
import { retryWhileUnreachable } from '#libs/postgres';
import { isJsonObject, type JsonObject, type JsonValue, textStart } from '#libs/protocol';
import { type AgentToolConfig, reachOf, type TalkConfig } from './agent-tool-config.js';
import type { ToolCaller } from './agent-tools.js';

/** Maximum number of skills that the description of an agent lists from its card. */
const MOST_SKILLS = 20;
/** Maximum number of characters of a description. */
const LONGEST = 4_000;
/** Time limit in milliseconds for fetching the card of a remote agent. */
const CARD_MS = 5_000;

const ANSWERING =
  'If the status of the result is "input-required", call this tool again with "message" alone to answer the question.';

/** Schema of the arguments that begin a conversation with an agent. */
const TALK_SCHEMA: JsonObject = {
  type: 'object',
  properties: { message: { type: 'string', description: 'What to say first.' } },
  required: ['message'],
  additionalProperties: false,
};

/** Schema of the arguments for an agent without typed inputs, and for the answer to a question of any agent. */
export const MESSAGE_SCHEMA: JsonObject = {
  type: 'object',
  properties: {
    message: { type: 'string', description: 'What to say to the agent.' },
    data: { type: 'object', description: 'JSON that the agent needs beside the message.' },
  },
  required: ['message'],
  additionalProperties: false,
};

/** Description of an agent tool for a model. */
export interface OfferedAgent {
  description: string;
  inputSchema: JsonObject;
  /** True if the arguments are the inputs of a workflow, and not MESSAGE_SCHEMA. */
  isTyped: boolean;
}

/** Sources of the descriptions of agents. */
export interface AgentDescriptionSources {
  directory: Pick<AgentDirectory, 'resolveCard' | 'pinnedCard'>;
  references: Pick<AgentReferences, 'findServedAgent'>;
}

/**
 * Describes an agent for a model: a local agent by its definition; a remote agent by its current card, or by its pinned
 * card if the current one cannot be read. If neither card is available, the description has no details, and a later
 * call reports the error.
 * @throws the reason of the signal
 */
export async function offeredAgent(
  config: AgentToolConfig,
  cards: AgentDescriptionSources,
  caller: ToolCaller,
): Promise<OfferedAgent> {
  const isElsewhere = /^https?:/i.test(config.reference);
  const { agent, input }: FoundAgent = isElsewhere ? {} : await servedAgent(config, cards, caller);
  const typed = input && argumentSchema(input);
  const known = config.description ?? describedCard(isElsewhere ? await cardOf(config, cards, caller) : agent);
  if (config.talk) {
    const description = [known, talkWords(config.talk)].filter((text) => text !== '').join('\n');
    return { description, inputSchema: TALK_SCHEMA, isTyped: false };
  }
  return {
    description: [known, ANSWERING].filter((text) => text !== '').join('\n'),
    inputSchema: typed ?? MESSAGE_SCHEMA,
    isTyped: typed !== undefined,
  };
}

function talkWords({ maxTurns, wait }: TalkConfig): string {
  const loop =
    maxTurns === 0 ? '' : ` You are asked for your replies; at most ${maxTurns} turns follow its first answer.`;
  const result = wait
    ? 'The result has all that was said, and how the conversation ended.'
    : 'The result is its first answer; the conversation continues by itself.';
  return `This tool begins a conversation with the agent.${loop} ${result}`;
}

/** Local agent, with the schema of its inputs. Both are absent if the service has no such agent. */
interface FoundAgent {
  agent?: ServedAgent;
  input?: JsonObject;
}

async function servedAgent(
  { reference }: AgentToolConfig,
  { references }: AgentDescriptionSources,
  { tenant, signal }: ToolCaller,
): Promise<FoundAgent> {
  const findServed = async (): Promise<FoundAgent> => {
    const agent = await references.findServedAgent(reference, tenant);
    const input = (await agent.details?.())?.schemas[agent.name]?.input;
    return { agent, ...(input && { input }) };
  };
  try {
    return await retryWhileUnreachable(findServed, signal);
  } catch (error) {
    if (error instanceof UnknownAgent) return {};
    throw error;
  }
}

/**
 * Returns the current card of a remote agent. If the current card cannot be read, returns the pinned card; `undefined`
 * if there is none either.
 */
async function cardOf(
  config: AgentToolConfig,
  { directory }: AgentDescriptionSources,
  { tenant, owner, signal }: ToolCaller,
): Promise<object | undefined> {
  const { reference } = config;
  const scope = { tenant, owner };
  const timeouts = { firstEvent: CARD_MS, idle: CARD_MS, total: CARD_MS, refused: 0 };
  const options = { scope, signal, timeouts, ...reachOf(config) };
  const fetchCard = () => directory.resolveCard(reference, options);
  const readPinnedCard = () => retryWhileUnreachable(() => directory.pinnedCard(reference, { scope }), signal);
  return (await unlessUnusable(fetchCard, signal)) ?? unlessUnusable(readPinnedCard, signal);
}

/**
 * Returns the card that `find` resolves with; `undefined` if it rejects, because the card cannot be read or used.
 * @throws the reason of the signal if it has aborted
 */
async function unlessUnusable<T>(find: () => Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  try {
    return await find();
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof AgentCallError) return undefined;
    throw error;
  }
}

/** Formats a card as a description, with one line for each skill. The texts come from the card and are untrusted. */
function describedCard(card: object | undefined): string {
  if (card === undefined) return '';
  const { description, skills } = card as Record<string, JsonValue | undefined>;
  const known = Array.isArray(skills) ? skills.filter(isJsonObject).slice(0, MOST_SKILLS) : [];
  const lines = known.map((skill) => [skill.name, skill.description].map(lineOf).filter(Boolean).join(': '));
  return textStart([lineOf(description), ...lines].filter(Boolean).join('\n'), LONGEST);
}

/** Returns a text as one line without control characters; `''` for any other value. */
function lineOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value.replaceAll(/[\p{Cc}\p{Z}]+/gu, ' ').trim() : '';
}
