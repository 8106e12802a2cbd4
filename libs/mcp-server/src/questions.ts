import { hasMoreMembers, tooManyMembers, tryParseFitJson } from '#libs/http-server';
import {
  briefText,
  dataPart,
  isJsonObject,
  isWaitingState,
  joinedText,
  type JsonObject,
  type JsonValue,
  type Message,
  textPart,
  textStart,
  userMessage,
} from '#libs/protocol';
import { DEFAULT_CONTENT_LIMITS } from '#libs/service';
import type { StoredTask, TaskQuestions } from '#libs/tasks';
import { INVALID_PARAMS, McpError } from './mcp-error.js';

/** Members that MCP permits in a field of a form, by the type of the field. */
const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  string: ['minLength', 'maxLength', 'format', 'default', 'enum', 'enumNames', 'oneOf'],
  number: ['minimum', 'maximum', 'default'],
  integer: ['minimum', 'maximum', 'default'],
  boolean: ['default'],
  array: ['minItems', 'maxItems', 'items', 'default'],
};
const FORMATS = new Set(['email', 'uri', 'date', 'date-time']);

/** Schema of a form, as an elicitation may have it. */
interface ElicitationSchema extends JsonObject {
  type: 'object';
  properties: JsonObject;
}

/** Schema of the answer to a question without a form. */
const ANSWER_SCHEMA: ElicitationSchema = {
  type: 'object',
  properties: { answer: { type: 'string', title: 'Answer' } },
  required: ['answer'],
};

/**
 * Converts the form of a question to one that an elicitation can show: flat, with fields of simple types; `undefined`
 * for any other form. Members of a field that MCP does not define are omitted. The answer is validated against the full
 * form.
 */
export function elicitationSchema(form: JsonObject): ElicitationSchema | undefined {
  const { type, properties, required } = form;
  if (type !== 'object' || !isJsonObject(properties)) return undefined;
  const fields = Object.entries(properties).map(([name, it]) => [name, fieldOf(it)] as const);
  if (fields.length === 0 || fields.some(([, field]) => field === undefined)) return undefined;
  const asked = Array.isArray(required) ? required.filter((it) => typeof it === 'string') : [];
  return {
    type: 'object',
    properties: Object.fromEntries(fields) as JsonObject,
    ...(asked.length > 0 && { required: asked }),
  };
}

function fieldOf(field: JsonValue): JsonObject | undefined {
  if (!isJsonObject(field)) return undefined;
  const type = typeof field['type'] === 'string' ? field['type'] : isListOfChoices(field) ? 'string' : '';
  const known = MEMBERS[type];
  if (known === undefined || ('enum' in field && !isChoice(field['enum']))) return undefined;
  if (type === 'array' && !isListOfChoices(field['items'])) return undefined;
  const kept = ['title', 'description', ...known].filter((name) => isShown(field, name));
  return { type, ...Object.fromEntries(kept.map((name) => [name, field[name]!])) };
}

/** True if MCP can show a member of a field, with its value. */
function isShown(field: JsonObject, name: string): boolean {
  const value = field[name];
  if (name === 'format') return typeof value === 'string' && FORMATS.has(value);
  return value !== undefined && (name !== 'oneOf' || isTitledChoice(value));
}

/**
 * True if a schema permits only the texts that it lists, in a form that MCP defines: `enum`, or `oneOf` or `anyOf` with
 * a title for each text.
 */
function isListOfChoices(schema: JsonValue | undefined): boolean {
  if (!isJsonObject(schema) || !CHOICE_TYPES.has(schema['type'])) return false;
  return isChoice(schema['enum']) || ['oneOf', 'anyOf'].some((name) => isTitledChoice(schema[name]));
}

/** Types of a field with choices; a field with an `enum` may omit its type. */
const CHOICE_TYPES: ReadonlySet<JsonValue | undefined> = new Set(['string', undefined]);

function isChoice(values: JsonValue | undefined): boolean {
  return Array.isArray(values) && values.every((it) => typeof it === 'string');
}

/** True for a list of texts (`const`), each with its title. */
function isTitledChoice(values: JsonValue | undefined): boolean {
  if (!Array.isArray(values) || values.length === 0) return false;
  return values.every((it) => isJsonObject(it) && typeof it['const'] === 'string' && typeof it['title'] === 'string');
}

/** Keywords of a field that are not rules for its value. */
const ANNOTATIONS = new Set(['title', 'description', 'examples', 'default', '$comment', 'enumNames']);

/** Keywords of a form that every elicitation shows or implies. */
const IMPLIED = new Set(['type', 'required', 'additionalProperties', '$schema', '$id']);

/** Returns the rules of a form that an elicitation cannot show, as a schema; `undefined` if there are none. */
function hiddenRules({ properties, ...form }: JsonObject, shown: ElicitationSchema): JsonObject | undefined {
  const fields = Object.entries(isJsonObject(properties) ? properties : {}).flatMap(([name, field]) => {
    const rules = rulesBeside(field, Object.keys(shown.properties[name] ?? {}));
    return rules === undefined ? [] : [[name, rules] as const];
  });
  const others = rulesBeside(form, [...IMPLIED]);
  if (fields.length === 0 && others === undefined) return undefined;
  return { ...(fields.length > 0 && { properties: Object.fromEntries(fields) }), ...others };
}

/** Returns the members of a schema that are rules and not among `seen`; `undefined` if there are none. */
function rulesBeside(schema: JsonValue, seen: readonly string[]): JsonObject | undefined {
  const members = isJsonObject(schema) ? Object.entries(schema) : [];
  const rules = members.filter(([name]) => !ANNOTATIONS.has(name) && !seen.includes(name));
  return rules.length > 0 ? Object.fromEntries(rules) : undefined;
}

/** Maximum number of questions that are asked at once. The inbox of the service has every question. */
const MOST_QUESTIONS = 50;
/** Maximum number of characters of a form that is quoted in the text of a question. */
const LONGEST_FORM = 8_192;
/** Maximum number of violations of an answer that a repeated question names. */
const MOST_VIOLATIONS = 10;
/** Maximum number of characters of these violations. */
const LONGEST_COMPLAINT = 2_000;

/** Open question of a waiting Task. */
export interface McpQuestion {
  /**
   * Key that identifies the question among all questions of the Task. It is the same on every replica while the
   * question is open.
   */
  key: string;
  /** Node instance of the run that asks; absent if the Task asks as a whole. */
  instance?: string;
  text: string;
  form?: JsonObject;
  /** Reasons why the previous answer was rejected; absent if there was none. */
  complaint?: string;
}

/** Request `elicitation/create` of MCP, which asks the user of the client. */
export interface Elicitation {
  method: 'elicitation/create';
  params: { message: string; requestedSchema: ElicitationSchema };
}

/** Reply to an elicitation. `action` is `accept`, `decline` or `cancel`. */
export interface ElicitationReply {
  action: string;
  content?: JsonObject;
}

/**
 * Returns the open questions of a Task; an empty list if the Task does not wait. A waiting Task without open questions
 * of nodes has one question: the text of its status.
 */
export async function questionsOf(
  { header, task }: StoredTask,
  asked: Pick<TaskQuestions, 'listQuestions'>,
): Promise<McpQuestion[]> {
  if (!isWaitingState(header.state)) return [];
  const { taskId, tenant, owner } = header;
  const open = await asked.listQuestions({ scope: { tenant, owner }, taskId, limit: MOST_QUESTIONS });
  if (open.length > 0) {
    return open.map(({ key: instance, since, body }) => {
      const { text, form, violations } = body;
      // A question that is repeated after a rejected answer keeps its time. The sequence number gives it a new key.
      const again = violations === undefined ? '' : `.${header.lastSequence}`;
      return {
        key: `${instance}@${since.getTime().toString(36)}${again}`,
        instance,
        text: typeof text === 'string' ? text : '',
        ...(isJsonObject(form) && { form }),
        ...(violations !== undefined && { complaint: complaintOf(violations) }),
      };
    });
  }
  const text = joinedText(task.status.message?.parts ?? []);
  return [{ key: `task@${header.lastSequence}`, text: briefText(text ?? 'The task waits for input') }];
}

/** Describes the violations of a rejected answer: at most ten, each with its field. */
function complaintOf(violations: JsonValue): string {
  const all = Array.isArray(violations) ? violations.filter(isJsonObject) : [];
  const said = all
    .slice(0, MOST_VIOLATIONS)
    .map(({ field, description }) => [field, description].filter((it) => typeof it === 'string').join(': '));
  return briefText(said.join('; '), LONGEST_COMPLAINT);
}

/**
 * Converts a question to an elicitation with the form of the question. If the question has no form, or a form that MCP
 * cannot show, the elicitation has one text field, `answer`. The text names the rules that are not shown, and why the
 * previous answer was rejected.
 */
export function elicitationOf({ text, form, complaint }: McpQuestion): Elicitation {
  const requestedSchema = form && elicitationSchema(form);
  const wrong = complaint === undefined ? '' : `\n\nThe previous answer was rejected: ${complaint}`;
  return {
    method: 'elicitation/create',
    params: {
      message: `${text}${form ? hintOf(form, requestedSchema) : ''}${wrong}`,
      requestedSchema: requestedSchema ?? ANSWER_SCHEMA,
    },
  };
}

/** Returns the part of a question's text that has the rules of a form which the elicitation does not show. */
function hintOf(form: JsonObject, shown: ElicitationSchema | undefined): string {
  if (!shown) return `\n\nAnswer with JSON of this schema: ${textStart(JSON.stringify(form), LONGEST_FORM)}`;
  const hidden = hiddenRules(form, shown);
  return hidden === undefined ? '' : `\n\nFurther rules: ${textStart(JSON.stringify(hidden), LONGEST_FORM)}`;
}

/** Returns the elicitations of questions, by the key of the question. */
export function inputRequests(questions: readonly McpQuestion[]): Record<string, Elicitation> {
  return Object.fromEntries(questions.map((it) => [it.key, elicitationOf(it)]));
}

/**
 * Returns the Message that answers open questions; `undefined` if no reply accepts one of them. Replies to unknown or
 * answered questions are ignored.
 * @param mostMembers maximum number of members and elements in the JSON of one answer
 * @throws McpError if an answer has more members
 */
export function answerMessage(
  taskId: string,
  questions: readonly McpQuestion[],
  replies: Readonly<Record<string, unknown>>,
  mostMembers = DEFAULT_CONTENT_LIMITS.jsonMembers,
): Message | undefined {
  const answers = questions.flatMap((question) => {
    const reply = Object.hasOwn(replies, question.key) ? readReply(replies[question.key]) : undefined;
    const value = reply && replyValue(question, reply, mostMembers);
    return value === undefined ? [] : [{ ...question, value }];
  });
  const [first] = answers;
  if (first === undefined) return undefined;
  if (first.instance === undefined) {
    const { value } = first;
    return userMessage([typeof value === 'string' ? textPart(value) : dataPart(value)], { taskId });
  }
  const byInstance = answers.flatMap(({ instance, value }) => (instance === undefined ? [] : [[instance, value]]));
  return userMessage([dataPart(Object.fromEntries(byInstance) as JsonObject)], { taskId });
}

/** Reads a reply to an elicitation; `undefined` if the value is malformed. */
export function readReply(sent: unknown): ElicitationReply | undefined {
  const said = sent as JsonValue;
  if (!isJsonObject(said) || typeof said['action'] !== 'string') return undefined;
  const { action, content } = said;
  return { action, ...(isJsonObject(content) && { content }) };
}

/** True if the action of the reply is `accept`: only then does the reply have an answer. */
export function isAccepted(sent: unknown): boolean {
  return readReply(sent)?.action === 'accept';
}

function replyValue(
  { form }: McpQuestion,
  { action, content = {} }: ElicitationReply,
  mostMembers: number,
): JsonValue | undefined {
  if (action !== 'accept') return undefined;
  if (form && elicitationSchema(form)) return content;
  const { answer } = content;
  if (typeof answer !== 'string') return undefined;
  return form ? jsonOr(answer, mostMembers) : answer;
}

/**
 * Parses an answer as JSON. A text that is not valid JSON stays a text.
 * @throws McpError if the JSON has more than `mostMembers` members and elements
 */
function jsonOr(text: string, mostMembers: number): JsonValue {
  if (hasMoreMembers(text, mostMembers))
    throw new McpError(INVALID_PARAMS, `answer: ${tooManyMembers(mostMembers)}`, 400);
  const value = tryParseFitJson(text);
  return value === undefined ? text : value;
}
