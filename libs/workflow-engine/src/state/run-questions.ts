import { InputSchema, readAnswer, strayParts } from '#libs/expressions';
import {
  agentMessage,
  briefText,
  dataPart,
  type FieldViolation,
  firstData,
  firstText,
  formMessage,
  type FormQuestion,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Message,
  type Part,
  type TaskReference,
  textPart,
} from '#libs/protocol';
import type { TaskQuestion } from '#libs/tasks';
import type { WorkflowGraph } from '#libs/workflow-definition';
import type { NodeInstance, NodeStatus } from './node-instance.js';
import { questionDeadline } from './timers.js';

/** Metadata key of a Message: the node that asks, or the node that the caller answers, by node id or instance name. */
export const NODE_KEY = 'node';

/** A node that asks a question. */
type Asking = Pick<NodeInstance, 'id' | 'instance'>;

/**
 * Returns the waiting nodes that a follow-up Message answers. In order of precedence:
 * - the node that the metadata of the Message name; none if that node does not wait,
 * - the nodes that the keys of its data objects name,
 * - the first waiting node.
 */
export function answeredNodes<N extends Asking>(message: Message, waiting: readonly N[]): N[] {
  const name = message.metadata?.[NODE_KEY];
  if (name !== undefined) return namedNode(waiting, name).slice(0, 1);
  const keys = message.parts.flatMap(({ data }) => (isJsonObject(data) ? Object.keys(data) : []));
  const named = new Set(keys.map((key) => namedNode(waiting, key)[0]));
  const byKey = waiting.filter((node) => named.has(node));
  return byKey.length > 0 ? byKey : waiting.slice(0, 1);
}

/**
 * Returns the Parts of a follow-up Message that answer one node.
 * - If the metadata of the Message name the node: all Parts.
 * - Otherwise the values that its data objects have under the name of the instance, or else under the node id.
 * - If there are no such values: all Parts.
 */
export function answerParts(message: Message, node: Asking): Part[] {
  const name = message.metadata?.[NODE_KEY];
  if (name === node.instance || name === node.id) return message.parts;
  const own = partsUnder(message, node.instance);
  const parts = own.length > 0 ? own : partsUnder(message, node.id);
  return parts.length > 0 ? parts : message.parts;
}

/**
 * Returns the waiting instance with this name. If there is none, returns all waiting instances of the node with this
 * id.
 */
export function namedNode<N extends Asking>(waiting: readonly N[], name: JsonValue): N[] {
  const exact = waiting.filter(({ instance }) => instance === name);
  return exact.length > 0 ? exact : waiting.filter(({ id }) => id === name);
}

function partsUnder(message: Message, key: string): Part[] {
  return message.parts.flatMap(({ data }) => {
    if (!isJsonObject(data) || !Object.hasOwn(data, key)) return [];
    const value = data[key] ?? null;
    return [typeof value === 'string' ? textPart(value) : dataPart(value)];
  });
}

/**
 * Metadata key under which the status of a waiting run, and the status's Message, contain the questions of the nodes.
 */
const WAITING_KEY = 'parley/waiting';

/**
 * Metadata key that is set if `parley/waiting` does not contain all questions: the number of open questions, and where
 * to list them.
 */
const OPEN_KEY = 'parley/open-questions';

/** Maximum number of questions in one status. A run repeats its status with every answer. */
const MOST_IN_STATUS = 10;
/** Maximum number of bytes of the questions in one status, as JSON. */
const MOST_STATUS_BYTES = 32 * 1024;
/** Maximum number of characters of a form, as JSON. A longer form of a remote agent is left out. */
const LONGEST_FORM = 64 * 1024;
/** Pattern of a valid assignee label. PostgreSQL rejects NUL in a text. */
const LABEL = /^[^\0]{1,200}$/;

/** A question of a node in the metadata of a status. */
interface WaitingQuestion {
  node: string;
  /** Name of the instance. An answer refers to this name. */
  instance: string;
  text: string;
  /** JSON Schema of the answer's data; absent if a text answers the question. */
  form?: JsonObject;
  /** Label of the people who are to answer (the assignee); absent if none is named. */
  assignee?: string;
  /** Time until which an answer is accepted (ISO 8601). */
  deadline?: string;
  /** Violations in the previous answer, which was rejected; absent if it was not. */
  violations?: FieldViolation[];
}

/** Returns the question of a waiting node as Parts: the question of its agent, or a default text. */
function askedParts(node: NodeInstance): Part[] {
  const asked = node.question ?? [];
  return asked.length > 0 ? asked : [textPart(whatIsWaitedFor(node))];
}

/**
 * Returns the question of a waiting node as a text. A question without a text, for example a tool call to approve, is
 * returned as JSON.
 */
export function questionText(node: NodeInstance): string {
  const parts = askedParts(node);
  const data = firstData(parts);
  return firstText(parts) ?? (data === undefined ? whatIsWaitedFor(node) : JSON.stringify(data));
}

function whatIsWaitedFor({ id, wantsAuth }: NodeInstance): string {
  return `Node "${id}" waits for ${wantsAuth ? 'authentication' : 'input'}`;
}

/**
 * Returns a node's question as a Message of the run.
 * @param more additional metadata of the Message, for callers who read only the Task
 */
export function askingMessage(reference: TaskReference, node: NodeInstance, more: JsonObject): Message {
  const name = { [NODE_KEY]: node.instance, ...more };
  const asks = asksOf(node);
  if (!asks) return agentMessage(reference, askedParts(node), name);
  const message = formMessage(reference, askedParts(node), asks);
  return { ...message, metadata: { ...name, ...message.metadata } };
}

/**
 * Returns the metadata of a waiting status.
 * - All questions are listed if they fit (at most 10, and 32 KiB).
 * - Otherwise only new questions are listed, as far as they fit, with the number of open questions and where to find
 *   all of them. So the log grows linearly with the questions.
 * @param runId id of the run; part of the address where its waiting instances are listed
 * @param now time of the status, from which new questions are open
 */
export function waitingMetadata(
  graph: WorkflowGraph,
  waiting: readonly NodeInstance[],
  { runId, now }: { runId: string; now: string },
): JsonObject {
  const all = fittingQuestions(graph, waiting, now);
  if (all.length === waiting.length) return { [WAITING_KEY]: all };
  const news = waiting.filter(({ isAsked, refused, asks }) => !isAsked || refused || asks?.violations);
  const list = `/api/runs/${runId}/instances?status=input-required`;
  return {
    [WAITING_KEY]: fittingQuestions(graph, news, now),
    [OPEN_KEY]: { count: waiting.length, inbox: '/api/inbox', list },
  };
}

/**
 * Returns the questions of the first nodes, as many as fit into one status: at least one if there are any.
 * @param now time from which a new question is open (ISO 8601)
 */
function fittingQuestions(graph: WorkflowGraph, nodes: readonly NodeInstance[], now: string): JsonObject[] {
  const found: JsonObject[] = [];
  let bytes = 0;
  for (const node of nodes.slice(0, MOST_IN_STATUS)) {
    const question = waitingQuestion(graph, node, now) as unknown as JsonObject;
    bytes += Buffer.byteLength(JSON.stringify(question));
    if (bytes > MOST_STATUS_BYTES && found.length > 0) break;
    found.push(question);
  }
  return found;
}

/**
 * Returns a node's question as the inbox stores it.
 * @param now time from which a new question is open (ISO 8601)
 */
export function openQuestion(graph: WorkflowGraph, node: NodeInstance, now: string): TaskQuestion {
  const { instance: key, assignee, ...body } = waitingQuestion(graph, node, now);
  return {
    key,
    ...(assignee !== undefined && { assignee }),
    since: new Date(node.openSince ?? now),
    body: body as unknown as JsonObject,
  };
}

/**
 * Validates an answer to the question of a node. Returns its violations, including Parts that the question does not ask
 * for.
 */
export function answerFaults({ asks }: NodeInstance, parts: readonly Part[]): FieldViolation[] {
  if (!asks) return [];
  const form = InputSchema.ifValid(asks.form);
  const strays = strayParts(form, parts);
  if (strays.length > 0) return strays;
  const read = readAnswer(form, parts);
  return 'violations' in read ? read.violations : [];
}

function waitingQuestion(graph: WorkflowGraph, node: NodeInstance, now: string): WaitingQuestion {
  const { form, assignee, violations } = asksOf(node) ?? {};
  const deadline = deadlineOf(graph, node, now);
  return {
    node: node.id,
    instance: node.instance,
    text: briefText(questionText(node)),
    ...(form && JSON.stringify(form).length <= LONGEST_FORM && { form }),
    ...(assignee !== undefined && LABEL.test(assignee) && { assignee }),
    ...(deadline !== undefined && { deadline }),
    ...(violations && { violations }),
  };
}

/**
 * Returns the form of a node's question, with the violations of an answer that the agent rejected; `undefined` if there
 * is neither.
 */
function asksOf({ asks, refused }: NodeInstance): FormQuestion | undefined {
  return refused ? { ...asks, violations: refused } : asks;
}

/**
 * Returns the deadline of a question (ISO 8601): the deadline that the node's `onWait` sets, else the one that the
 * agent sets; `undefined` without both.
 */
function deadlineOf(graph: WorkflowGraph, { id, openSince, asks }: NodeInstance, now: string): string | undefined {
  const deadline = questionDeadline(graph.node(id), openSince ?? now);
  return deadline === undefined ? asks?.deadline : new Date(deadline).toISOString();
}

const OPEN: ReadonlySet<NodeStatus> = new Set(['pending', 'running', 'input-required']);
/** Maximum number of questions in the text of `questionsText`. */
const MOST_QUESTIONS = 10;
/** Maximum number of characters of each question in the text of `questionsText`. */
const LONGEST_QUESTION = 500;

/**
 * Returns the entries of a list that wait for an answer, if no entry works or waits for a timer. Otherwise, and for a
 * node without a list, the result is empty.
 */
export function askingEntries({ each, status }: NodeInstance): readonly NodeInstance[] {
  if (each === undefined || status !== 'running') return [];
  const open = each.runs.filter((entry) => OPEN.has(entry.status));
  return open.every((entry) => entry.status === 'input-required') ? open : [];
}

/**
 * Formats the questions of list entries as a text, at most ten of them, one per line, and the number of the others. A
 * line begins with the name of the instance, to which an answer refers.
 */
export function questionsText(entries: readonly NodeInstance[]): string {
  const lines = entries
    .slice(0, MOST_QUESTIONS)
    .map((entry) => `${entry.instance}: ${briefText(questionText(entry), LONGEST_QUESTION)}`);
  const more = entries.length - lines.length;
  return [...lines, ...(more > 0 ? [`and ${more} more`] : [])].join('\n');
}
