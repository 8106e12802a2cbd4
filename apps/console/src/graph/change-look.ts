import type { EdgeLook } from './edge-look.js';
import type { CardBadge, GraphChange } from './card-data.js';

interface ChangeLook {
  /** Sign in front of the word, so that the difference does not rest on color alone. */
  sign: string;
  label: string;
  /** Color of an edge: a name from the console's palette. */
  color: string;
  dash?: string;
  /** CSS classes of the changed node's card. */
  card: string;
  /** CSS classes of the text that names the change. */
  text: string;
}

const LOOKS: Readonly<Record<GraphChange, ChangeLook>> = {
  added: { sign: '+', label: 'Added', color: 'success', card: 'ring-2 ring-success', text: 'text-success' },
  removed: {
    sign: '−',
    label: 'Removed',
    color: 'destructive',
    dash: '7 5',
    card: 'border-dashed ring-2 ring-destructive',
    text: 'text-destructive',
  },
  changed: { sign: '~', label: 'Changed', color: 'warning', card: 'ring-2 ring-warning', text: 'text-warning' },
  moved: { sign: '>', label: 'Moved', color: 'input', card: '', text: 'text-muted-foreground' },
};

export const GRAPH_CHANGES = Object.keys(LOOKS) as GraphChange[];

export function changeLook(change: GraphChange): ChangeLook {
  return LOOKS[change];
}

/** Returns the end of a sentence about a node or edge, such as `, changed`; empty without a difference. */
export function changeWord(change: GraphChange | undefined): string {
  return change === undefined ? '' : `, ${LOOKS[change].label.toLowerCase()}`;
}

/** Returns the badge of a node's card for a difference. */
export function changeBadge(change: GraphChange): CardBadge {
  const { sign, label } = LOOKS[change];
  return { text: `${sign} ${label.toLowerCase()}`, title: `${label} in the later revision`, at: 'end' };
}

/** Returns the look of an edge with its difference marked; `look` unchanged if there is no difference. */
export function changedEdgeLook(look: EdgeLook, change: GraphChange | undefined): EdgeLook {
  if (change === undefined) return look;
  const { sign, label, color, dash } = LOOKS[change];
  const word = label.toLowerCase();
  return {
    ...look,
    label: `${sign} ${look.label ?? word}`,
    color,
    width: 2,
    ...(dash !== undefined && { dash }),
    sentence: look.sentence + changeWord(change),
  };
}
