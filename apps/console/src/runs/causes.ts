import type { NodePicture, RunPicture } from './run-picture.js';

const OUTCOMES: Readonly<Record<string, string>> = {
  acknowledged: 'Cancelled; its agent confirmed.',
  refused: 'Cancelled, but its agent refused to stop.',
  unreachable: 'Cancelled, but its agent could not be reached.',
  'not-started': 'Cancelled before its agent had begun.',
  unknown: 'Cancelled, but its agent may have begun: it had not reported a task.',
};

/** Why a run is not done, in one line; nothing for one that simply works or completed. */
export function runCause({ status, error, nodes }: RunPicture): string | undefined {
  if (status === 'input-required') {
    const waiting = [...nodes.values()].find((node) => node.status === 'input-required');
    return waiting ? `Waits for an answer to ${waiting.id}: ${waiting.question ?? ''}` : 'Waits for an answer.';
  }
  if (status === 'failed') return error?.message ?? 'The run failed.';
  return status === 'canceled' ? 'Somebody cancelled this run.' : undefined;
}

/** Why a node waits, failed or was never started, in one line. */
export function nodeCause(node: NodePicture, run: RunPicture): string | undefined {
  switch (node.status) {
    case 'input-required':
      return `Waits for an answer: ${node.question ?? ''}`;
    case 'failed':
      return node.error ?? 'It failed.';
    case 'canceled':
      return OUTCOMES[node.outcome ?? ''] ?? 'Cancelled with the run.';
    case 'skipped':
      return run.error?.node === undefined
        ? 'Never started: the run ended before.'
        : `Never started: ${run.error.node} failed.`;
    case 'pending':
      return pendingCause(node, run);
    default:
      return undefined;
  }
}

function pendingCause({ id }: NodePicture, { graph, nodes }: RunPicture): string {
  const parents = graph.edges.filter(({ to }) => to === id).map(({ from }) => from);
  const open = parents.filter((parent) => nodes.get(parent)?.status !== 'completed');
  return open.length === 0 ? 'About to start.' : `Waits for ${open.join(', ')}.`;
}
