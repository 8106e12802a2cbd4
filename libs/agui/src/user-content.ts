import { argumentSchema, REGISTERED_AGENTS, type ServedAgent } from '#libs/agents';
import { malformedRequest } from '#libs/http-server';
import {
  dataPart,
  derivedId,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Message,
  type Part,
  standardBase64,
  textPart,
  userMessage,
} from '#libs/protocol';
import type { Interrupt } from './projection/agui-event.js';
import { parseInterruptId } from './projection/agui-event.js';
import type { InputMessage, ResumeEntry, RunInput } from './run-input.js';

/** Metadata key of a Message: what the application shows to its agents (`context` of AG-UI). */
const CONTEXT_KEY = 'ag-ui/context';
/** Maximum number of Parts of a Message, as over A2A. */
const MOST_PARTS = 1_000;
/** Pattern of standard and URL-safe base64. */
const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

/**
 * Returns the Message that begins a run: the last group of user messages, and the inputs of the workflow that `state`
 * and `forwardedProps` have. The Message is the same each time the client sends the request, even if the history ends
 * with a part of the answer.
 * @throws ProblemError 400 if the user messages have more than 1,000 parts
 */
export async function beginningMessage(agent: ServedAgent, input: RunInput): Promise<Message> {
  const { threadId, context } = input;
  const inputs = await namedInputs(agent, input);
  const given = Object.keys(inputs).length > 0 ? [dataPart(inputs)] : [];
  const parts = [...lastUserMessages(input.messages).flatMap(partsOf), ...given];
  if (parts.length > MOST_PARTS)
    throw malformedRequest({ path: 'messages', detail: `the user messages must have at most ${MOST_PARTS} parts` });
  return userMessage(parts.length > 0 ? parts : [textPart('')], {
    messageId: messageIdOf(agent, input),
    contextId: threadId,
    ...(context.length > 0 && { metadata: { [CONTEXT_KEY]: context } }),
  });
}

/** Returns the Message that answers questions of a Task. @param answers at least one resolved entry */
export function answeringMessage(
  agent: ServedAgent,
  input: RunInput,
  { taskId, answers }: { taskId: string; answers: readonly ResumeEntry[] },
): Message {
  const fields = { taskId, contextId: input.threadId, messageId: messageIdOf(agent, input) };
  const byInstance = answers.map(({ interruptId, payload = null }): [string, JsonValue] => {
    return [parseInterruptId(interruptId)?.instance ?? '', payload];
  });
  const whole = byInstance.find(([instance]) => instance === '');
  if (!whole) return userMessage([dataPart(Object.fromEntries(byInstance))], fields);
  return userMessage([typeof whole[1] === 'string' ? textPart(whole[1]) : dataPart(whole[1])], fields);
}

/** Returns the entries of `resume` that answer or refuse one of the open interrupts. Others are ignored. */
export function openEntries(resume: readonly ResumeEntry[], interrupts: readonly Interrupt[]): ResumeEntry[] {
  const open = new Set(interrupts.map(({ id }) => id));
  return resume.filter(({ interruptId }) => open.has(interruptId));
}

/** Returns the id of the Message of a run. It names the answers, too. */
export function messageIdOf({ path }: ServedAgent, { threadId, runId, resume }: RunInput): string {
  return derivedId('agui', path, threadId, runId, resume as unknown as JsonValue);
}

/** Returns the newest user messages that no message of another role separates. */
function lastUserMessages(messages: readonly InputMessage[]): readonly InputMessage[] {
  const end = messages.findLastIndex(({ role }) => role === 'user') + 1;
  const start = messages.slice(0, end).findLastIndex(({ role }) => role !== 'user') + 1;
  return messages.slice(start, end);
}

function partsOf({ content }: InputMessage): Part[] {
  if (typeof content === 'string') return [textPart(content)];
  return Array.isArray(content) ? content.filter(isJsonObject).flatMap(partOf) : [];
}

/** Converts a part of a user message; none for a part that the service cannot use, such as a file of a provider. */
function partOf(part: JsonObject): Part[] {
  const { type, text, source, filename } = part;
  if (type === 'text') return typeof text === 'string' ? [textPart(text)] : [];
  const named = typeof filename === 'string' ? { filename } : {};
  // Clients before 1.0 send files as `binary`, without a source.
  const { type: kind, value, mimeType } = isJsonObject(source) ? source : binarySource(part);
  if (typeof value !== 'string' || value === '') return [];
  const media = typeof mimeType === 'string' && mimeType !== '' ? { mediaType: mimeType } : {};
  if (kind === 'url') return URL.canParse(value) ? [{ url: value, ...media, ...named }] : [];
  return kind === 'data' && BASE64.test(value) ? [{ raw: standardBase64(value), ...media, ...named }] : [];
}

function binarySource({ data, url, mimeType }: JsonObject): JsonObject {
  if (typeof data === 'string') return { type: 'data', value: data, ...(mimeType !== undefined && { mimeType }) };
  return typeof url === 'string' ? { type: 'url', value: url, ...(mimeType !== undefined && { mimeType }) } : {};
}

/** Returns the inputs of a workflow that the request names: members of `state`, then of `forwardedProps`. */
async function namedInputs(agent: ServedAgent, { state, forwardedProps }: RunInput): Promise<JsonObject> {
  const names = await inputNamesOf(agent);
  const sources = [forwardedProps, state].filter((it) => it !== undefined && isJsonObject(it)) as JsonObject[];
  return Object.fromEntries(
    names.flatMap((name): [string, JsonValue][] => {
      const source = sources.find((it) => Object.hasOwn(it, name));
      return source === undefined ? [] : [[name, source[name]!]];
    }),
  );
}

async function inputNamesOf(agent: ServedAgent): Promise<string[]> {
  if (agent.path.startsWith(`${REGISTERED_AGENTS}/`)) return [];
  const { input } = (await agent.details?.())?.schemas[agent.name] ?? {};
  const properties = input && argumentSchema(input)?.['properties'];
  return isJsonObject(properties) ? Object.keys(properties) : [];
}
