import { joinedParts, partsText } from '../api/parts.js';
import type { A2aPart } from '../api/task.js';
import { END, isStep, QUESTION, TEXT, type WorkEvent, withWork } from '../transcript/work-event.js';
import type { RunEvent } from './run-event.js';

/** An attempt to run a node. */
export interface Attempt {
  attempt: number;
  startedAt: string;
  finishedAt?: string;
  status: string;
  /** Reason why the attempt failed, if another attempt followed. */
  error?: string;
}

/**
 * Reason why a node was skipped:
 * - `off`: no edge to the node was taken.
 * - `broken`: a node that it needs has failed.
 * - `out-of-reach`: fewer of its incoming edges can still be taken than its `join` needs.
 * - `failure`: the run has failed.
 * - `canceled`: its result is no longer needed.
 */
export type NodeSkipReason = 'off' | 'broken' | 'out-of-reach' | 'failure' | 'canceled';

/** Progress of a node that runs once for each entry of a list. */
export interface ListPicture {
  items: readonly unknown[];
  /** Number of entries by status. */
  counts: Readonly<Record<string, number>>;
}

/** A node of a run, or one of its instances, built from the events received so far. */
export interface NodePicture {
  id: string;
  type: string;
  /** Name of the instance, if the node has several. */
  instance?: string;
  status: string;
  attempts: readonly Attempt[];
  url?: string;
  taskId?: string;
  /** Question of the node's agent, while the node waits for an answer. */
  question?: string;
  asks?: Asked;
  error?: string;
  /** Outcome of canceling the node's Task; absent if it was not canceled. */
  outcome?: string;
  /** Reason why the node was skipped; absent if it was not. */
  because?: NodeSkipReason;
  /** Time of the node's next attempt (retry), in ISO 8601; absent if none is scheduled. */
  retryAt?: string;
  /** Time at which the node's wait ends, in ISO 8601; absent if it does not wait. */
  until?: string;
  /** Last status text of the node's agent, and its output so far; absent if the agent has reported neither. */
  progress?: Progress;
  /** Steps of the node's agent in the last attempt that have been reported so far. */
  work?: readonly WorkEvent[];
  /** True if the node's fallback replaced its result. */
  fallback?: boolean;
  /** Id of the earlier run whose result the node reuses; absent if it reuses none. */
  origin?: string;
  /** Indexes of the node's conditional edges that were taken. */
  taken?: readonly number[];
  list?: ListPicture;
}

/** The expected answer to a question. */
interface Asked {
  /** JSON Schema of the answer. */
  form?: unknown;
  assignee?: string;
  deadline?: string;
  /** Problems of the previous answer. */
  violations?: readonly { path?: string; detail?: string; field?: string; description?: string }[];
}

interface Progress {
  text?: string;
  /** Text of the output that the agent has produced so far. */
  made?: string;
}

/** Applies an event about a node to the node's state, and returns the new state. */
export function nodeAfter(node: NodePicture, event: RunEvent): NodePicture {
  const after = applyNodeEvent(node, event);
  const work = workIn(event);
  // An event that is no step is kept only if the transcript has begun with a step.
  const isKept = work && (isStep(work.type) || (after.work?.length ?? 0) > 0);
  return isKept ? { ...after, work: withWork(after.work ?? [], work) } : after;
}

/** Returns the transcript entry of an event, if it has one. */
function workIn({ type, payload, timestamp: at }: RunEvent): WorkEvent | undefined {
  if (isStep(type)) return { type, payload, at };
  const chunk = type === 'node.progress' && !isOfTool(payload) ? chunkIn(payload) : undefined;
  if (chunk?.parts) return { type: TEXT, payload: { parts: chunk.parts, append: chunk.append === true }, at };
  if (type === 'a2a.received' && Array.isArray(payload['question']))
    return { type: QUESTION, payload: { text: questionText(payload['question'] as A2aPart[]) }, at };
  const isEnd = ['node.completed', 'node.error', 'node.canceled', 'node.retrying'].includes(type);
  return isEnd ? { type: END, payload: {}, at } : undefined;
}

function applyNodeEvent(node: NodePicture, { type, payload, timestamp }: RunEvent): NodePicture {
  switch (type) {
    case 'node.started':
      return startAttempt(node, Number(payload['attempt'] ?? node.attempts.length + 1), timestamp);
    case 'a2a.sending':
    case 'node.resumed': {
      const { question: _answered, asks: _asks, ...rest } = node;
      return withStatus({ ...rest, ...pickTexts(payload, 'url') }, 'running');
    }
    case 'a2a.received':
      return applyReceived({ ...node, ...pickTexts(payload, 'taskId') }, payload);
    case 'node.completed': {
      const fallback = payload['fallback'] === true && { fallback: true };
      return endNode({ ...withoutError(node), ...fallback, ...readTakenEdges(payload) }, 'completed', timestamp);
    }
    case 'node.error':
      return endNode({ ...node, ...pickTexts(payload, 'error'), ...readTakenEdges(payload) }, 'failed', timestamp);
    case 'node.canceled':
      return endNode({ ...node, ...pickTexts(payload, 'taskId', 'outcome') }, 'canceled', timestamp);
    default:
      return waitingAfter(node, { type, payload, timestamp });
  }
}

/** True for progress of an agent that was called as a tool, not of the node's own agent. */
function isOfTool(payload: RunEvent['payload']): boolean {
  return payload['tool'] !== undefined;
}

/** Applies an event about waits, lists or progress to a node's state, and returns the new state. */
function waitingAfter(
  node: NodePicture,
  { type, payload, timestamp }: Pick<RunEvent, 'type' | 'payload' | 'timestamp'>,
): NodePicture {
  switch (type) {
    case 'node.retrying': {
      const failed = { status: 'failed', finishedAt: timestamp, ...failureIn(payload) };
      return { ...node, ...pickTexts(payload, 'retryAt'), status: 'running', attempts: lastAttempt(node, failed) };
    }
    case 'node.waiting':
      return { ...node, ...pickTexts(payload, 'until') };
    case 'node.progress':
      return isOfTool(payload) ? node : { ...node, progress: progressAfter(node.progress, payload) };
    case 'each.started': {
      const items = Array.isArray(payload['items']) ? payload['items'] : [];
      return { ...node, list: { items, counts: node.list?.counts ?? {} } };
    }
    case 'node.reused':
      return { ...node, ...pickTexts(payload, 'origin'), ...readTakenEdges(payload), status: 'completed' };
    default:
      return node;
  }
}

/** Returns the state of a node that has ended. Its last attempt ends at `finishedAt` with the same status. */
export function endNode(node: NodePicture, status: string, finishedAt: string): NodePicture {
  const { question: _question, asks: _asks, retryAt: _retryAt, until: _until, ...rest } = node;
  return { ...rest, status, attempts: lastAttempt(node, { status, finishedAt }) };
}

/**
 * Returns a node's list with its counts updated after the status of an entry has changed.
 * @param before earlier status of the entry; `undefined` for an entry without one
 */
export function countedIn(list: ListPicture | undefined, before: string | undefined, after: string): ListPicture {
  const { items = [], counts = {} } = list ?? {};
  const next = { ...counts, [after]: (counts[after] ?? 0) + 1 };
  if (before !== undefined) next[before] = (next[before] ?? 0) - 1;
  return { items, counts: next };
}

function applyReceived(node: NodePicture, payload: RunEvent['payload']): NodePicture {
  const { question, asks } = payload;
  if (!Array.isArray(question)) return node;
  const form = typeof asks === 'object' && asks !== null ? { asks: asks as Asked } : {};
  return withStatus({ ...node, question: questionText(question as A2aPart[]), ...form }, 'input-required');
}

/** Returns the text of a question. Its other Parts are for programs, and shown only if there is no text. */
function questionText(question: readonly A2aPart[]): string {
  const words = joinedParts(question).filter(({ text }) => text !== undefined);
  return partsText(words.length > 0 ? words : question);
}

function progressAfter(last: Progress | undefined, payload: RunEvent['payload']): Progress {
  const chunk = chunkIn(payload);
  const parts = chunk?.parts && partsText(chunk.parts);
  const made = parts === undefined ? last?.made : `${chunk?.append ? (last?.made ?? '') : ''}${parts}`;
  return { ...last, ...pickTexts(payload, 'text'), ...(made !== undefined && { made }) };
}

function chunkIn({ artifact }: RunEvent['payload']): Chunk | undefined {
  const chunk = typeof artifact === 'object' && artifact !== null ? (artifact as Chunk) : undefined;
  return Array.isArray(chunk?.parts) ? chunk : undefined;
}

interface Chunk {
  parts?: A2aPart[];
  append?: boolean;
}

function startAttempt(node: NodePicture, attempt: number, startedAt: string): NodePicture {
  const { retryAt: _retryAt, progress: _progress, work: _work, ...rest } = node;
  return { ...rest, status: 'running', attempts: [...node.attempts, { attempt, startedAt, status: 'running' }] };
}

function withStatus(node: NodePicture, status: string): NodePicture {
  return { ...node, status, attempts: lastAttempt(node, { status }) };
}

function withoutError({ error: _error, ...node }: NodePicture): NodePicture {
  return node;
}

function failureIn(payload: RunEvent['payload']): { error?: string } {
  const { failure } = payload;
  const message =
    typeof failure === 'object' && failure !== null ? (failure as { message?: unknown }).message : undefined;
  return typeof message === 'string' ? { error: message } : {};
}

function readTakenEdges(payload: RunEvent['payload']): { taken?: number[] } {
  return Array.isArray(payload['taken']) ? { taken: payload['taken'] as number[] } : {};
}

function lastAttempt({ attempts }: NodePicture, members: Partial<Attempt>): readonly Attempt[] {
  const last = attempts.at(-1);
  return last ? [...attempts.slice(0, -1), { ...last, ...members }] : attempts;
}

/** Returns the members of a payload that are texts. */
export function pickTexts<K extends string>(payload: RunEvent['payload'], ...keys: K[]): Partial<Record<K, string>> {
  const found = keys.filter((key) => typeof payload[key] === 'string');
  return Object.fromEntries(found.map((key) => [key, payload[key]])) as Partial<Record<K, string>>;
}
