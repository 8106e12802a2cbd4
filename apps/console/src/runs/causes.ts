import { localTime } from '../components/local-time.js';
import { parseInstanceName } from './instance-name.js';
import type { NodePicture, NodeSkipReason } from './node-picture.js';
import type { RunPicture } from './run-picture.js';

const OUTCOMES: Readonly<Record<string, string>> = {
  acknowledged: 'Canceled; its agent confirmed.',
  refused: 'Canceled, but its agent refused to stop.',
  unreachable: 'Canceled, but its agent could not be reached.',
  'not-started': 'Canceled before its agent started.',
  unknown: 'Canceled, but its agent may have started: it had not reported a task.',
};

/**
 * Returns the reason why a run is not completed (waits, is idle, failed or was canceled), in a line; `undefined` for a
 * run that works or has completed.
 */
export function runCause({ status, error, nodes, instances, parked }: RunPicture): string | undefined {
  if (status === 'input-required') {
    const waiting = waitingNodes({ nodes, instances });
    const [first] = waiting;
    if (waiting.length > 1) return `Waits for ${waiting.length} answers.`;
    return first ? `Waits for an answer to ${getInstanceName(first)}: ${first.question ?? ''}` : 'Waits for an answer.';
  }
  if (status === 'failed') return error?.message ?? 'The run failed.';
  if (status === 'running' && parked?.until !== undefined)
    return `Idle until ${localTime(parked.until, Date.now())}: ${describeParked({ nodes, instances })}.`;
  return status === 'canceled' ? 'This run was canceled.' : undefined;
}

/** Maximum number of nodes that a sentence about an idle run names. */
const MOST_NAMED = 3;

/** Returns what an idle run waits for: the time or next attempt of a node, or the agent of a node, which is polled. */
function describeParked({ nodes, instances }: Pick<RunPicture, 'nodes' | 'instances'>): string {
  const repeated = new Set([...instances.values()].map(({ id }) => id));
  const all = [...[...nodes.values()].filter(({ id }) => !repeated.has(id)), ...instances.values()];
  const waits = all.filter(({ status, list }) => status === 'running' && list === undefined).map(describeWait);
  const more = waits.length > MOST_NAMED ? ` and ${waits.length - MOST_NAMED} more` : '';
  return waits.length === 0 ? 'it waits for a time' : `it waits for ${waits.slice(0, MOST_NAMED).join(', ')}${more}`;
}

function describeWait(node: NodePicture): string {
  const name = getInstanceName(node);
  if (node.retryAt !== undefined) return `the next attempt of ${name}`;
  return node.until === undefined ? `the agent of ${name}, which is polled then` : `the time of ${name}`;
}

/**
 * Returns the name of the node that failed a run, or of its failed iteration or list entry, if it has several
 * instances. `undefined` if no node failed the run, but for example a deadline did.
 */
export function findFailedInstance({ error, nodes, instances }: RunPicture): string | undefined {
  if (error?.node === undefined) return undefined;
  const { node: id } = parseInstanceName(error.node);
  const failed = [...instances.values()].filter((it) => it.id === id && it.status === 'failed');
  const found = failed.findLast(({ list }) => list === undefined) ?? nodes.get(id);
  return found && getInstanceName(found);
}

/** Returns every node or instance with a pending question; nodes without instances come first. */
export function waitingNodes({ nodes, instances }: Pick<RunPicture, 'nodes' | 'instances'>): NodePicture[] {
  const plain = [...nodes.values()].filter(({ instance }) => instance === undefined);
  return [...plain, ...instances.values()].filter(({ status }) => status === 'input-required');
}

/** Returns the name of a node's instance, or the node's id if it runs once. */
export function getInstanceName({ id, instance }: NodePicture): string {
  return instance ?? id;
}

/** Returns the reason why a node waits, failed or was skipped, in a line; `undefined` for any other node. */
export function nodeCause(node: NodePicture, run: RunPicture): string | undefined {
  switch (node.status) {
    case 'input-required':
      return `Waits for an answer: ${node.question ?? ''}`;
    case 'failed':
      return node.error ?? 'It failed.';
    case 'canceled':
      return OUTCOMES[node.outcome ?? ''] ?? 'Canceled with the run.';
    case 'skipped':
      return skippedCause(node, run);
    case 'pending':
      return pendingCause(node, run);
    case 'running':
      return waitingCause(node, run);
    case 'completed':
      return node.fallback ? 'No attempt succeeded: its fallback is its result.' : undefined;
    default:
      return undefined;
  }
}

/** Note on the card of a skipped node, by the reason. It fits on the card. */
export const SKIPPED: Readonly<Record<NodeSkipReason, string>> = {
  off: 'Not chosen',
  broken: 'Needs a failed node',
  'out-of-reach': 'Out of reach',
  failure: 'The run failed',
  canceled: 'Not needed',
};

function skippedCause({ id, because }: NodePicture, { error, graph, nodes }: RunPicture): string {
  const failed = error?.node === undefined ? 'the run ended before' : `${error.node} failed`;
  if (because === undefined || because === 'failure') return `Never started: ${failed}.`;
  const before = [...new Set(graph.edges.filter(({ to, loop }) => to === id && !loop).map(({ from }) => from))];
  if (because === 'off') return `Never started: no edge to it was taken, from ${before.join(', ')}.`;
  if (because === 'canceled') return 'Never started: it was no longer needed.';
  const broken = before.filter((it) => ['failed', 'skipped', 'canceled'].includes(nodes.get(it)?.status ?? ''));
  if (because === 'broken') return `Never started: it needs ${(broken.length > 0 ? broken : before).join(', ')}.`;
  return `Never started: too few of ${before.join(', ')} can still lead to it.`;
}

function waitingCause({ retryAt, until, attempts, list }: NodePicture, { parked }: RunPicture): string | undefined {
  if (retryAt !== undefined) {
    const { attempt = 1, error } = attempts.at(-1) ?? {};
    return `Attempt ${attempt} failed${error === undefined ? '' : `: ${error}`}. The next one is at ${formatClock(retryAt)}.`;
  }
  if (until !== undefined) return `Waits until ${localTime(until, Date.now())}.`;
  if (parked?.until === undefined || list !== undefined) return undefined;
  return `Waits for its agent, which is polled again at ${localTime(parked.until, Date.now())}.`;
}

function pendingCause({ id }: NodePicture, { graph, nodes }: RunPicture): string {
  const parents = graph.edges.filter(({ to, loop }) => to === id && !loop).map(({ from }) => from);
  const open = parents.filter((parent) => nodes.get(parent)?.status !== 'completed');
  return open.length === 0 ? 'About to start.' : `Waits for ${open.join(', ')}.`;
}

function formatClock(at: string): string {
  return new Date(at).toLocaleTimeString();
}
