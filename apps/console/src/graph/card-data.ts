/** Kind of a difference between two revisions of a workflow. */
export type GraphChange = 'added' | 'removed' | 'changed' | 'moved';

/** A short label on the edge of a card, with its explanation. */
export interface CardBadge {
  text: string;
  title: string;
  /** Side of the card: `start` is the side at which edges arrive. */
  at: 'start' | 'end';
  tone?: 'warning';
}

/**
 * Segment of the bar on the card of a node that runs once for each entry of a list: the number of entries (`count`)
 * with one status. The segment's length is proportional to the number.
 */
export interface BarPart {
  status: string;
  count: number;
}

/** Content of a node's card on the canvas. */
export interface CardData extends Record<string, unknown> {
  id: string;
  type: string;
  /** Status of the node in a run; absent in the editor. */
  status?: string;
  startedAt?: string | undefined;
  finishedAt?: string | undefined;
  /** Text in place of the status, such as what the node waits for. */
  note?: string | undefined;
  /** Time at which a waiting node resumes by itself. */
  until?: string | undefined;
  /** Number of attempts made so far, and the maximum number. */
  attempts?: { made: number; most: number } | undefined;
  badges?: readonly CardBadge[];
  /** True if the card is drawn as an outline without a fill, as for a skipped node. */
  hollow?: boolean;
  /** True if the node runs once for each entry of a list. */
  stacked?: boolean;
  bar?: readonly BarPart[] | undefined;
  /** Errors of the node, one line each. */
  problems?: readonly string[];
  /** Warnings about the node, one line each. */
  warnings?: readonly string[];
  /** Difference of the node between two revisions. */
  change?: GraphChange;
  connectable?: boolean;
}
