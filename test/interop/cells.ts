import { type Framework, FRAMEWORKS, type Packages, testedPackages } from './frameworks.js';

/**
 * What is done with an agent: it is sent a Message; its text is read as it comes; it asks and is answered; its Task is
 * canceled; and, of agents that Parley calls, it is a tool of another agent's model.
 */
export const OPERATIONS = {
  called: ['send', 'stream', 'ask', 'cancel', 'as a tool'],
  calls: ['send', 'stream', 'ask', 'cancel'],
} as const satisfies Record<Direction, readonly string[]>;

/** Whose agent is called: the framework's, by Parley; or Parley's, by the framework. */
export type Direction = 'called' | 'calls';
export type Operation = (typeof OPERATIONS)[Direction][number];

/** What a cell says where its test passes: that it works, or why it does not. */
export type Saying = '✓' | `✓ ${string}` | `– ${string}`;

const FAILED = '✗';

export interface Place {
  framework: Framework;
  direction: Direction;
  operation: Operation;
}

export interface Cell extends Place {
  says: Saying | typeof FAILED;
}

/** What a framework's cells said, and in which versions (test/interop/cells.json). */
interface Outcome {
  packages: Packages;
  called: Partial<Record<Operation, string>>;
  calls: Partial<Record<Operation, string>>;
}

export type Outcomes = Record<Framework, Outcome>;

export const PLACES: readonly Place[] = (Object.keys(FRAMEWORKS) as Framework[]).flatMap((framework) =>
  (['called', 'calls'] as const).flatMap((direction) =>
    OPERATIONS[direction].map((operation) => ({ framework, direction, operation })),
  ),
);

/** A test that has not ended well yet. */
export function begunCell(place: Place): Cell {
  return { ...place, says: FAILED };
}

/** What the cells say together: one that failed is all that its place says. A place without a cell says nothing. */
export function outcomesOf(cells: readonly Cell[]): Outcomes {
  const said = ({ framework, direction, operation }: Place): string | undefined => {
    const here = cells.filter(
      (it) => it.framework === framework && it.direction === direction && it.operation === operation,
    );
    if (here.some(({ says }) => says === FAILED)) return FAILED;
    return here.length === 0 ? undefined : [...new Set(here.map(({ says }) => says))].join('; ');
  };
  const row = (framework: Framework, direction: Direction): Outcome[Direction] =>
    Object.fromEntries(
      OPERATIONS[direction].map((operation) => [operation, said({ framework, direction, operation })]),
    );
  const outcome = (it: Framework): Outcome => ({
    packages: testedPackages(it),
    called: row(it, 'called'),
    calls: row(it, 'calls'),
  });
  return Object.fromEntries(
    (Object.keys(FRAMEWORKS) as Framework[]).map((it) => [it, outcome(it)]),
  ) as unknown as Outcomes;
}

/** The places that nothing is said of, or that failed: there is none where everything ran and is as expected. */
export function openPlaces(outcomes: Outcomes): Place[] {
  return PLACES.filter(({ framework, direction, operation }) => {
    const says = outcomes[framework][direction][operation];
    return says === undefined || says === FAILED;
  });
}
