import { briefText } from '../components/text-start.js';
import type { Graph, DefinitionEdge } from './graph.js';

/**
 * State of an edge in a run: taken (`live`), not taken (`off`), or broken by a failure (`broken`); `undefined` until it
 * is decided.
 */
export type EdgeOutcome = 'live' | 'off' | 'broken' | undefined;

/** Appearance of an edge: its label, color and line style. */
export interface EdgeLook {
  /** Text on the edge; missing for an edge without a condition. */
  label?: string;
  /** Full text of a truncated label; absent if it is not truncated. */
  title?: string;
  /** Color of the line: a name from the console's palette. */
  color: string;
  dash?: string;
  width?: number;
  /** Description of the edge in a sentence, for screen readers. */
  sentence: string;
}

const LONGEST_LABEL = 34;
/** Maximum characters of a loop's label, whose line is as long as the loop is wide. */
const LONGEST_LOOP_LABEL = 120;
const DASHED = '7 5';
const DOTTED = '1 6';

const STATES: Readonly<Record<NonNullable<EdgeOutcome>, string>> = {
  live: 'taken',
  off: 'not taken',
  broken: 'broken by a failure',
};

/**
 * Returns the look of each edge of a graph, in order.
 * @param stateOf returns the state of the edge with an index; by default every state is `undefined` (not decided)
 */
export function edgeLooks(graph: Graph, stateOf: (index: number) => EdgeOutcome = () => undefined): EdgeLook[] {
  const choosing = new Set(graph.nodes.filter(({ branch }) => branch === 'first').map(({ id }) => id));
  return graph.edges.map((edge, index) => edgeLook(edge, choosing.has(edge.from) && isElse(edge), stateOf(index)));
}

function edgeLook(edge: DefinitionEdge, isElseEdge: boolean, state: EdgeOutcome): EdgeLook {
  const { from, to, when, on = 'success', loop } = edge;
  if (loop) return loopLook(edge, state);
  const outcome = on === 'success' ? undefined : on === 'failure' ? 'on failure' : 'always';
  const words = [outcome, when !== undefined ? when : isElseEdge ? 'else' : undefined].filter((it) => it !== undefined);
  const how = [
    ...(outcome === undefined ? [] : [on === 'failure' ? 'on failure' : 'on success or failure']),
    ...(when === undefined ? [] : [`when ${when}`]),
    ...(isElseEdge ? ['if no other edge is taken'] : []),
    ...(state ? [STATES[state]] : []),
  ];
  return {
    ...labelOf(words.join(': ')),
    color: on === 'failure' ? 'destructive' : 'input',
    ...(isElseEdge && { dash: DASHED }),
    ...strokeOf(state, on === 'failure'),
    sentence: [`From ${from} to ${to}`, ...how].join(', '),
  };
}

function loopLook({ from, to, loop }: DefinitionEdge, state: EdgeOutcome): EdgeLook {
  const { max_iterations: most = 1, exit_when: until } = loop ?? {};
  const label = `up to ${most}×${until === undefined ? '' : ` until ${until}`}`;
  return {
    ...labelOf(label, LONGEST_LOOP_LABEL),
    color: 'primary',
    ...strokeOf(state, false),
    sentence: `From ${from} back to ${to}, ${label}${state ? `, ${STATES[state]}` : ''}`,
  };
}

function strokeOf(state: EdgeOutcome, isFailure: boolean): Partial<EdgeLook> {
  if (state === 'live') return { color: isFailure ? 'destructive' : 'success', width: 2 };
  if (state === 'off') return { color: 'border' };
  return state === 'broken' ? { color: 'destructive', dash: DOTTED, width: 2 } : {};
}

/**
 * True for an edge with neither a condition nor a loop. If its source has `branch: first`, the edge is the `else` edge,
 * which is taken only if no other edge of the source is taken.
 */
function isElse({ when, loop }: DefinitionEdge): boolean {
  return when === undefined && loop === undefined;
}

function labelOf(text: string, longest = LONGEST_LABEL): Pick<EdgeLook, 'label' | 'title'> {
  if (text === '') return {};
  const line = text.replaceAll(/\s+/g, ' ');
  return { label: line.length > longest ? briefText(line, longest - 1) : line, title: text };
}
