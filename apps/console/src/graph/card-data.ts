/** A word on the edge of a card, and what it means. */
export interface CardBadge {
  text: string;
  title: string;
  /** Where edges come in, or at the other end. */
  at: 'start' | 'end';
  tone?: 'warning';
}

/** A part of the bar of a card: as long as what has a status is many. */
export interface BarPart {
  status: string;
  count: number;
}

/** What a node of the canvas shows. */
export interface CardData extends Record<string, unknown> {
  id: string;
  type: string;
  /** Of the node in a run. */
  status?: string;
  startedAt?: string | undefined;
  finishedAt?: string | undefined;
  /** What it does in place of its status, such as what it waits for. */
  note?: string | undefined;
  /** When it goes on by itself. */
  until?: string | undefined;
  /** Attempts that were made, and how many there may be. */
  attempts?: { made: number; most: number } | undefined;
  badges?: readonly CardBadge[];
  /** Whether it is drawn as what has not been. */
  hollow?: boolean;
  /** Whether the node is many: one for each entry of a list. */
  stacked?: boolean;
  bar?: readonly BarPart[] | undefined;
  /** One line for each thing that is wrong with it. */
  problems?: readonly string[];
  /** The same for what may not be meant. */
  warnings?: readonly string[];
  connectable?: boolean;
}
