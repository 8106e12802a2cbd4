import { hasMoreMembers, tryParseFitJson } from '#libs/http-server';
import { isJsonObject, type JsonObject, jsonInText, type JsonValue, type Part, textPart } from '#libs/protocol';
import { DEFAULT_CONTENT_LIMITS } from '#libs/service';
import type { AssistantMessage, ModelCall, ModelEvent, ModelMessage, ModelTool, ToolResult } from '../model.js';
import { separateFiles } from './tool-files.js';

/** Answer in words, where the call asks for no other form. */
const WORDS: JsonObject = { type: 'string' };

/**
 * Converts a call with tools to a call without tools, for an endpoint that cannot call tools. The schema of the answer
 * permits one tool call or the answer, and a system message describes both. Earlier tool calls and their results become
 * texts in the same form.
 */
export function withSchemaTools(call: ModelCall): ModelCall {
  const { tools = [], output = WORDS, isAnswerOnly = false, messages, ...rest } = call;
  if (tools.length === 0) return call;
  const offered = isAnswerOnly ? [] : tools;
  return {
    ...rest,
    messages: [...messages.map(withoutToolMembers), describeForms(offered, output)],
    output: answerSchema(offered, output),
    isOutputDescribed: true,
  };
}

/**
 * Reads the answer to a call of `withSchemaTools`: its text becomes one tool call, or the answer. A text in another
 * form is an answer as it is. The text is yielded at its end, because only its whole JSON shows which of them it is.
 * @param mostMembers maximum number of members and elements in the JSON of the answer
 */
export async function* readSchemaAnswer(
  events: AsyncIterable<ModelEvent>,
  mostMembers = DEFAULT_CONTENT_LIMITS.jsonMembers,
): AsyncIterable<ModelEvent> {
  let text = '';
  for await (const event of events) {
    if ('text' in event) text += event.text;
    else if ('end' in event) yield* splitAnswer(text, event, mostMembers);
    else yield event;
  }
}

function* splitAnswer(text: string, last: ModelEvent & { end: object }, mostMembers: number): Iterable<ModelEvent> {
  const read = (json: string): JsonValue | undefined =>
    hasMoreMembers(json, mostMembers) ? undefined : tryParseFitJson(json);
  const said = jsonInText(text, { read, fits: isInForm });
  const { tool, arguments: args = {}, answer } = isJsonObject(said) && isInForm(said) ? said : { answer: text };
  if (typeof tool === 'string') {
    const malformed = isJsonObject(args) ? {} : { malformed: JSON.stringify(args) };
    // Without an id, the agent gives the call one.
    yield { toolCall: { id: '', name: tool, args: isJsonObject(args) ? args : {}, ...malformed } };
    yield { end: { ...last.end, reason: 'tool-calls' } };
    return;
  }
  const words = typeof answer === 'string' ? answer : JSON.stringify(answer);
  if (words !== '') yield { text: words };
  yield last;
}

/** True if a value has the form that `describeForms` describes. */
function isInForm(value: JsonValue): boolean {
  return isJsonObject(value) && (typeof value['tool'] === 'string' || value['answer'] !== undefined);
}

/** Returns the schema that permits a call of one of the tools, or the answer. */
function answerSchema(tools: readonly ModelTool[], output: JsonObject): JsonObject {
  const answer = formOf({ answer: withoutReferences(output, {}) });
  if (tools.length === 0) return answer;
  const calls = tools.map(({ name, inputSchema }) =>
    formOf({ tool: { const: name }, arguments: withoutReferences(inputSchema, { type: 'object' }) }),
  );
  return { anyOf: [...calls, answer] };
}

function formOf(properties: JsonObject): JsonObject {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}

/** Returns a schema, or `otherwise` if it has references, whose targets move within a larger schema. */
function withoutReferences(schema: JsonObject, otherwise: JsonObject): JsonObject {
  return JSON.stringify(schema).includes('"$ref"') ? otherwise : schema;
}

function describeForms(tools: readonly ModelTool[], output: JsonObject): ModelMessage {
  const answer =
    output === WORDS
      ? '{"answer":"…"} gives your answer.'
      : `{"answer":…} gives your answer, which must be valid against this JSON Schema: ${JSON.stringify(output)}`;
  const text =
    tools.length === 0
      ? `Answer with one JSON document and nothing else, in this form:\n${answer}`
      : [
          'You can use tools. Answer with one JSON document and nothing else, in one of these forms:',
          '{"tool":"NAME","arguments":{…}} calls a tool. Its result follows.',
          answer,
          'Tools:',
          ...tools.map(describeTool),
        ].join('\n');
  return { role: 'system', parts: [textPart(text)] };
}

function describeTool({ name, description, inputSchema }: ModelTool): string {
  return `- ${name}${description === undefined ? '' : `: ${description}`}. Arguments: ${JSON.stringify(inputSchema)}`;
}

function withoutToolMembers(message: ModelMessage): ModelMessage {
  if (message.role === 'tool') return { role: 'user', parts: describeResults(message.results) };
  return message.role === 'assistant' ? inForm(message) : message;
}

/** Converts an earlier answer to the form that the model is asked for, so that it repeats this form. */
function inForm({ parts, toolCalls = [] }: AssistantMessage): ModelMessage {
  const calls = toolCalls.map(({ name, args }) => textPart(JSON.stringify({ tool: name, arguments: args })));
  return { role: 'assistant', parts: calls.length > 0 ? [...parts.filter(hasContent), ...calls] : parts };
}

function hasContent({ text }: Part): boolean {
  return text !== '';
}

function describeResults(sent: readonly ToolResult[]): Part[] {
  const { results, files } = separateFiles(sent);
  const texts = results.map(({ name, result = null, error }) => {
    const shown = typeof result === 'string' ? result : JSON.stringify(result);
    return textPart(error === undefined ? `Result of the tool ${name}: ${shown}` : `The tool ${name} failed: ${error}`);
  });
  return [...texts, ...files, textPart('Use this to answer, or to call another tool.')];
}
