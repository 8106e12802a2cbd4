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
import { hasMoreMembers, refuseUnfitJson, tooManyMembers } from '#libs/http';
import { DEFAULT_CONTENT_LIMITS } from '#libs/service';
import type { StoredTask, TaskQuestions } from '#libs/tasks';
import { INVALID_PARAMS, McpError } from './mcp-error.js';
import { ANSWER_SCHEMA, type ElicitationSchema, elicitationSchema } from './elicitation-form.js';

/** More is asked in the inbox. */
const MOST_QUESTIONS = 50;
/** Characters of a form that is shown in the text of a question. */
const LONGEST_FORM = 8_192;

/** One thing that a waiting Task asks. */
export interface Question {
  /** The same as long as this is asked, in every replica, and never another question's of the Task. */
  key: string;
  /** Which node of the run asks; absent: the Task as a whole. */
  instance?: string;
  text: string;
  form?: JsonObject;
}

/** `elicitation/create` of MCP: how a client asks its user. */
export interface Elicitation {
  method: 'elicitation/create';
  params: { message: string; requestedSchema: ElicitationSchema };
}

/** What a client's user did with an elicitation. */
export interface Reply {
  action: string;
  content?: JsonObject;
}

/** What a Task asks at the moment; nothing where it does not wait. */
export async function questionsOf(
  { header, task }: StoredTask,
  asked: Pick<TaskQuestions, 'list'>,
): Promise<Question[]> {
  if (!isWaitingState(header.state)) return [];
  const { taskId, tenant, owner } = header;
  const open = await asked.list({ scope: { tenant, owner }, taskId, limit: MOST_QUESTIONS });
  if (open.length > 0) {
    return open.map(({ key: instance, since, body }) => {
      const { text, form, violations } = body;
      // What was answered wrong is asked again, since the same time, as another question.
      const again = violations === undefined ? '' : `.${header.lastSequence}`;
      return {
        key: `${instance}@${since.getTime().toString(36)}${again}`,
        instance,
        text: typeof text === 'string' ? text : '',
        ...(isJsonObject(form) && { form }),
      };
    });
  }
  const text = joinedText(task.status.message?.parts ?? []);
  return [{ key: `task@${header.lastSequence}`, text: briefText(text ?? 'The task waits for input') }];
}

/** A question as a client asks it: with the form, or for `{answer}` where there is none, or one that MCP cannot show. */
export function elicitationOf({ text, form }: Question): Elicitation {
  const requestedSchema = form && elicitationSchema(form);
  const shown = form && !requestedSchema ? JSON.stringify(form) : undefined;
  const hint = shown === undefined ? '' : `\n\nAnswer with JSON of this schema: ${textStart(shown, LONGEST_FORM)}`;
  return {
    method: 'elicitation/create',
    params: { message: `${text}${hint}`, requestedSchema: requestedSchema ?? ANSWER_SCHEMA },
  };
}

/** All that are open, by their keys. */
export function inputRequests(questions: readonly Question[]): Record<string, Elicitation> {
  return Object.fromEntries(questions.map((it) => [it.key, elicitationOf(it)]));
}

/**
 * The Message that answers what is asked with what came for it. What was answered already, or was never asked, is left
 * out; `undefined` where nothing is left, because it was declined for example.
 * @param mostMembers what the JSON of one answer may have
 * @throws McpError where it has more
 */
export function answerMessage(
  taskId: string,
  questions: readonly Question[],
  replies: Readonly<Record<string, unknown>>,
  mostMembers = DEFAULT_CONTENT_LIMITS.jsonMembers,
): Message | undefined {
  const answers = questions.flatMap((question) => {
    const reply = Object.hasOwn(replies, question.key) ? readReply(replies[question.key]) : undefined;
    const value = reply && valueOf(question, reply, mostMembers);
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

/** An answer as a client sends it; `undefined` of anything else. */
export function readReply(sent: unknown): Reply | undefined {
  const said = sent as JsonValue;
  if (!isJsonObject(said) || typeof said['action'] !== 'string') return undefined;
  const { action, content } = said;
  return { action, ...(isJsonObject(content) && { content }) };
}

/** Whether what came for a question answers it. */
export function isAccepted(sent: unknown): boolean {
  return readReply(sent)?.action === 'accept';
}

function valueOf({ form }: Question, { action, content = {} }: Reply, mostMembers: number): JsonValue | undefined {
  if (action !== 'accept') return undefined;
  if (form && elicitationSchema(form)) return content;
  const { answer } = content;
  if (typeof answer !== 'string') return undefined;
  return form ? jsonOr(answer, mostMembers) : answer;
}

/** What could not be written again is no JSON. @throws McpError */
function jsonOr(text: string, mostMembers: number): JsonValue {
  if (hasMoreMembers(text, mostMembers))
    throw new McpError(INVALID_PARAMS, `answer: ${tooManyMembers(mostMembers)}`, 400);
  try {
    const value = JSON.parse(text) as JsonValue;
    refuseUnfitJson(value);
    return value;
  } catch {
    return text;
  }
}
