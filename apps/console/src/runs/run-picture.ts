import type { Graph } from '../graph/graph.js';
import { type Part, partsText, type RunEvent } from './run-event.js';

/** One start of a node. */
export interface Attempt {
  attempt: number;
  startedAt: string;
  finishedAt?: string;
  status: string;
}

/** A node of a run, as far as the events reported. */
export interface NodePicture {
  id: string;
  type: string;
  status: string;
  attempts: readonly Attempt[];
  url?: string;
  taskId?: string;
  /** What its agent asks, while it waits for an answer. */
  question?: string;
  error?: string;
  /** What became of its Task when it was canceled. */
  outcome?: string;
}

/** A run, as far as the events reported. */
export interface RunPicture {
  graph: Graph & { onFailure?: string };
  status: string;
  startedAt?: string;
  finishedAt?: string;
  error?: { node?: string; message: string };
  nodes: ReadonlyMap<string, NodePicture>;
}

export function pictureOf(graph: RunPicture['graph']): RunPicture {
  const pending = ({ id, type }: { id: string; type: string }): NodePicture => ({
    id,
    type,
    status: 'pending',
    attempts: [],
  });
  return { graph, status: 'running', nodes: new Map(graph.nodes.map((node) => [node.id, pending(node)])) };
}

/** The picture after some more events. The same events always give the same picture. */
export function folded(picture: RunPicture, events: readonly RunEvent[]): RunPicture {
  const nodes = new Map(picture.nodes);
  const next: Mutable<RunPicture> = { ...picture, nodes };
  for (const event of events) {
    const node = event.node_id === undefined ? undefined : nodes.get(event.node_id);
    if (node) nodes.set(node.id, nodeAfter(node, event));
    takeRunEvent(next, nodes, event);
  }
  return next;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type Nodes = Map<string, NodePicture>;

function nodeAfter(node: NodePicture, { type, payload, timestamp }: RunEvent): NodePicture {
  switch (type) {
    case 'node.started':
      return started(node, Number(payload['attempt'] ?? node.attempts.length + 1), timestamp);
    case 'a2a.sending': {
      const { question: _answered, ...rest } = node;
      return withStatus({ ...rest, ...texts(payload, 'url') }, 'running');
    }
    case 'a2a.received': {
      const known = { ...node, ...texts(payload, 'taskId') };
      const { question } = payload;
      return Array.isArray(question)
        ? withStatus({ ...known, question: partsText(question as Part[]) }, 'input-required')
        : known;
    }
    case 'node.completed':
      return ended(node, 'completed', timestamp);
    case 'node.error':
      return ended({ ...node, ...texts(payload, 'error') }, 'failed', timestamp);
    case 'node.canceled':
      return ended({ ...node, ...texts(payload, 'taskId', 'outcome') }, 'canceled', timestamp);
    default:
      return node;
  }
}

function takeRunEvent(run: Mutable<RunPicture>, nodes: Nodes, event: RunEvent): void {
  const { type, node_id: node, payload, timestamp } = event;
  if (type === 'node.started' && node === undefined) run.startedAt ??= timestamp;
  else if (type === 'input.required') run.status = 'input-required';
  else if (type === 'input.received') run.status = 'running';
  else if (type === 'node.error' && node !== undefined) {
    const { message, error = 'It failed.' } = texts(payload, 'message', 'error');
    run.error ??= { node, message: message ?? error };
    skipAfter(run, nodes, node);
  } else if (type === 'workflow.failed') {
    const { node: blamed, error } = texts(payload, 'node', 'error');
    run.error ??= { ...(blamed !== undefined && { node: blamed }), message: error ?? 'The run failed' };
  } else if (type === 'done') {
    const { status = 'completed', error } = texts(payload, 'status', 'error');
    run.status = status;
    run.finishedAt = timestamp;
    if (error !== undefined) run.error ??= { message: error };
    settle(nodes, timestamp);
  }
}

/** Without `continue` no other node is started; with it only what follows from the failed one is not. */
function skipAfter({ graph }: RunPicture, nodes: Nodes, failed: string): void {
  const skipped = graph.onFailure === 'continue' ? descendants(graph, failed) : nodes.keys();
  for (const id of skipped) {
    const node = nodes.get(id);
    if (node?.status === 'pending') nodes.set(id, { ...node, status: 'skipped' });
  }
}

/** What an ended run left behind was never started, or stopped with it. */
function settle(nodes: Nodes, at: string): void {
  for (const node of nodes.values()) {
    if (node.status === 'pending') nodes.set(node.id, { ...node, status: 'skipped' });
    else if (node.status === 'running' || node.status === 'input-required')
      nodes.set(node.id, ended(node, 'canceled', at));
  }
}

function descendants({ edges }: Graph, from: string): Set<string> {
  const found = new Set([from]);
  for (const at of found) for (const edge of edges) if (edge.from === at) found.add(edge.to);
  return found;
}

function started(node: NodePicture, attempt: number, startedAt: string): NodePicture {
  return { ...node, status: 'running', attempts: [...node.attempts, { attempt, startedAt, status: 'running' }] };
}

function withStatus(node: NodePicture, status: string): NodePicture {
  return { ...node, status, attempts: lastAttempt(node, { status }) };
}

function ended(node: NodePicture, status: string, finishedAt: string): NodePicture {
  const { question: _question, ...rest } = node;
  return { ...rest, status, attempts: lastAttempt(node, { status, finishedAt }) };
}

function lastAttempt({ attempts }: NodePicture, members: Partial<Attempt>): readonly Attempt[] {
  const last = attempts.at(-1);
  return last ? [...attempts.slice(0, -1), { ...last, ...members }] : attempts;
}

function texts<K extends string>(payload: RunEvent['payload'], ...keys: K[]): Partial<Record<K, string>> {
  const found = keys.filter((key) => typeof payload[key] === 'string');
  return Object.fromEntries(found.map((key) => [key, payload[key]])) as Partial<Record<K, string>>;
}
