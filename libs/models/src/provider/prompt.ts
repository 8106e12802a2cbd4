import type {
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4TextPart,
} from '@ai-sdk/provider';
import { isFilePart, isJsonObject, type JsonObject, type JsonValue, type Part, partAsText } from '#libs/protocol';
import type { AssistantMessage, Model, ModelCall, ModelMessage, ModelTool, ToolResult } from '../model.js';
import { withSchemaTools } from './schema-tools.js';
import { separateFiles } from './tool-files.js';

type AssistantContent = Extract<LanguageModelV4Message, { role: 'assistant' }>['content'];
type ToolContent = Extract<LanguageModelV4Message, { role: 'tool' }>['content'];

/** Whole content of an answer in the form of its provider, with reasoning and signatures. */
interface KeptAnswer {
  provider: string;
  content: AssistantContent;
}

/** Converts a file Part for a model; `undefined` if the model does not accept it. */
export type ReadFile = (part: Part) => Promise<LanguageModelV4FilePart | LanguageModelV4TextPart | undefined>;

/**
 * Converts a conversation to the format of the provider packages. System messages are merged into one, which comes
 * first.
 */
export async function promptOf(
  messages: readonly ModelMessage[],
  provider: string,
  read: ReadFile,
): Promise<LanguageModelV4Prompt> {
  const system = messages.flatMap((it) => (it.role === 'system' ? it.parts.map(partText) : []));
  const prompt: LanguageModelV4Prompt = system.length > 0 ? [{ role: 'system', content: joinTexts(system) }] : [];
  for (const message of messages) {
    if (message.role === 'tool') prompt.push(...(await toToolMessages(message.results, read)));
    else if (message.role !== 'system') prompt.push(await toProviderMessage(message, provider, read));
  }
  return prompt;
}

/**
 * Converts the results of tools. The files in them that the model accepts follow as a message of the user, because few
 * providers accept files in a result.
 */
async function toToolMessages(sent: readonly ToolResult[], read: ReadFile): Promise<LanguageModelV4Message[]> {
  const { results, files } = separateFiles(sent);
  const content: (LanguageModelV4TextPart | LanguageModelV4FilePart)[] = [];
  for (const [index, file] of files.entries()) {
    const part = await read(file);
    if (part?.type === 'file') content.push({ type: 'text', text: `File ${index + 1} of the tool results:` }, part);
  }
  const message: LanguageModelV4Message = { role: 'tool', content: results.map(toToolContent) };
  return content.length > 0 ? [message, { role: 'user', content }] : [message];
}

/** Request of a call in the form that the model reads: one system prompt, and the messages after it. */
interface RequestedPrompt {
  system?: string;
  messages: ModelMessage[];
  tools?: readonly ModelTool[];
  output?: JsonObject;
  temperature?: number;
  maxTokens?: number;
}

/**
 * Returns the request of a call as the model reads it, for people: system messages are merged, and the bytes of a file
 * are replaced by the size of the file.
 */
export function requestedPrompt(
  { provider, toolCalls }: Pick<Model, 'provider' | 'toolCalls'>,
  asked: ModelCall,
): RequestedPrompt {
  const call = toolCalls === 'schema' ? withSchemaTools(asked) : asked;
  const { tools = [], temperature, maxTokens, output, isOutputDescribed } = call;
  const asks = provider === undefined || output === undefined || isOutputDescribed ? [] : [asJson(output)];
  const system = [...call.messages, ...asks].flatMap((it) => (it.role === 'system' ? it.parts.map(partText) : []));
  const messages = call.messages.filter(({ role }) => role !== 'system');
  return {
    ...(system.length > 0 && { system: joinTexts(system) }),
    messages: messages.map((message) => shownMessage(message, provider)),
    ...(tools.length > 0 && { tools }),
    ...(output !== undefined && { output }),
    ...(temperature !== undefined && { temperature }),
    ...(maxTokens !== undefined && { maxTokens }),
  };
}

function shownMessage(message: ModelMessage, provider: string | undefined): ModelMessage {
  if (message.role === 'tool') return { role: 'tool', results: separateFiles(message.results).results };
  const parts = message.parts.map(withoutBytes);
  if (message.role !== 'assistant') return { ...message, parts };
  const { kept, ...shown } = message;
  return { ...shown, parts, ...(provider !== undefined && keptBy(message, provider) && { kept: kept! }) };
}

/** Returns a Part without its bytes; its metadata has their number (`bytes`). */
function withoutBytes(part: Part): Part {
  if (part.raw === undefined) return part;
  const { raw, ...rest } = part;
  return { ...rest, metadata: { ...rest.metadata, bytes: Buffer.byteLength(raw, 'base64') } };
}

type Said = Exclude<ModelMessage, { role: 'system' | 'tool' }>;

async function toProviderMessage(message: Said, provider: string, read: ReadFile): Promise<LanguageModelV4Message> {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: await userContent(message.parts, read) };
    case 'assistant':
      return { role: 'assistant', content: keptBy(message, provider) ?? assistantContent(message) };
  }
}

/** Returns the content of a user message. Consecutive texts are merged, as the simplest endpoints accept only one. */
async function userContent(
  parts: readonly Part[],
  read: ReadFile,
): Promise<(LanguageModelV4TextPart | LanguageModelV4FilePart)[]> {
  const content: (LanguageModelV4TextPart | LanguageModelV4FilePart)[] = [];
  for (const part of parts) {
    const said = (isFilePart(part) && (await read(part))) || toTextPart(part);
    const last = content.at(-1);
    if (said.type === 'text' && last?.type === 'text') last.text = joinTexts([last.text, said.text]);
    else content.push(said);
  }
  return content.length > 0 ? content : [{ type: 'text', text: '' }];
}

function keptBy({ kept }: AssistantMessage, provider: string): AssistantContent | undefined {
  const fits = isJsonObject(kept) && kept['provider'] === provider && Array.isArray(kept['content']);
  return fits ? (kept as unknown as KeptAnswer).content : undefined;
}

function assistantContent({ parts, toolCalls = [] }: AssistantMessage): AssistantContent {
  const text = joinTexts(parts.map(partText));
  return [
    ...(text === '' && toolCalls.length > 0 ? [] : [{ type: 'text' as const, text }]),
    ...toolCalls.map(({ id, name, args }) => ({
      type: 'tool-call' as const,
      toolCallId: id,
      toolName: name,
      input: args,
    })),
  ];
}

function toToolContent({ id, name, result, error }: ToolResult): ToolContent[number] {
  const output = error === undefined ? outputOf(result ?? null) : { type: 'error-text' as const, value: error };
  return { type: 'tool-result', toolCallId: id, toolName: name, output };
}

function outputOf(result: JsonValue): { type: 'text'; value: string } | { type: 'json'; value: JsonValue } {
  return typeof result === 'string' ? { type: 'text', value: result } : { type: 'json', value: result };
}

function toTextPart(part: Part): LanguageModelV4TextPart {
  return { type: 'text', text: partText(part) };
}

/** Returns a Part as text: data as JSON, and a file as one line about it. */
function partText(part: Part): string {
  return partAsText(part).text ?? '';
}

function joinTexts(texts: readonly string[]): string {
  return texts.join('\n\n');
}

/**
 * Returns a system message with the JSON Schema of the answer, as some models ignore the response format that the
 * provider packages set.
 */
export function asJson(schema: JsonObject): ModelMessage {
  const text =
    'Answer with one JSON document and nothing else. It must be valid against this JSON Schema:\n' +
    JSON.stringify(schema);
  return { role: 'system', parts: [{ text }] };
}
