import { textStart } from '../components/text-start.js';
import type { CardBadge, CardData } from '../graph/card-data.js';
import { badgesOf } from '../graph/node-badges.js';
import { nodeById } from '../graph/node-index.js';
import { localTime } from '../components/local-time.js';
import { toolCalled } from '../transcript/work-event.js';
import { SKIPPED } from './causes.js';
import { barOf, listNote } from './list-bar.js';
import type { NodePicture } from './node-picture.js';
import { type RunPicture, UNREAD } from './run-picture.js';
import { type Shown, shownNode } from './run-scope.js';

const LONGEST_NOTE = 26;

/** Cards of the states of nodes. A state belongs to one run and never changes, so its card stays the same, too. */
const cards = new WeakMap<NodePicture, Partial<CardData>>();
const NO_CARD: Partial<CardData> = {};

/**
 * Returns the content of a node's card in a run: its status, attempts, list and notes. The same state of a node has the
 * same object, so the canvas renders only the nodes whose state changed.
 */
export function runCard(picture: RunPicture, id: string, shown: Shown): Partial<CardData> {
  const node = shownNode(picture, id, shown);
  if (!node || node.status === UNREAD) return NO_CARD;
  const card = cards.get(node) ?? createCard(picture, id, node);
  cards.set(node, card);
  return card;
}

function createCard(picture: RunPicture, id: string, node: NodePicture): Partial<CardData> {
  const defined = nodeById(picture.graph.nodes, id);
  const last = node.attempts.at(-1);
  const most = defined?.retry?.attempts;
  return {
    status: node.status,
    startedAt: last?.startedAt,
    finishedAt: last?.finishedAt,
    note: noteOf(node),
    until: node.status === 'running' ? (node.retryAt ?? undefined) : undefined,
    attempts: most === undefined || node.attempts.length === 0 ? undefined : { made: node.attempts.length, most },
    badges: [
      ...(defined ? badgesOf(picture.graph, defined).filter(({ at }) => at === 'start') : []),
      ...endBadges(node),
    ],
    hollow: node.because !== undefined,
    stacked: defined?.each !== undefined,
    bar: node.list && barOf(node.list, node.status),
  };
}

/** Returns the text that a card shows in place of the elapsed time. */
function noteOf(node: NodePicture): string | undefined {
  const { status, list, retryAt, until, progress, work, because, origin, asks } = node;
  if (status === 'skipped') return because && SKIPPED[because];
  if (list) return listNote(list);
  if (status === 'input-required' && asks?.deadline !== undefined)
    return `Asks until ${localTime(asks.deadline, Date.now())}`;
  if (status === 'completed') return origin === undefined ? undefined : 'Reused';
  if (status !== 'running') return undefined;
  if (retryAt !== undefined) return 'Retry';
  if (until !== undefined) return `Waits until ${localTime(until, Date.now())}`;
  const said = progress?.text ?? toolCalled(work ?? []) ?? progress?.made?.trim().split('\n').at(-1);
  return said === undefined || said === '' ? undefined : textStart(said, LONGEST_NOTE);
}

function endBadges({ fallback, origin }: NodePicture): CardBadge[] {
  return [
    ...(fallback ? [buildNoteBadge('✓ fallback', 'No attempt succeeded: its fallback is its result', 'warning')] : []),
    ...(origin === undefined ? [] : [buildNoteBadge('reused', 'Reused from an earlier run')]),
  ];
}

function buildNoteBadge(text: string, title: string, tone?: 'warning'): CardBadge {
  return { text, title, at: 'end', ...(tone && { tone }) };
}
