/**
 * Sentences that the command prints in place of the API's texts about faults of a graph. The API itself keeps its
 * texts, because programs read them.
 */
const SENTENCES: readonly [pattern: RegExp, sentence: string][] = [
  [/build DAG: edge references unknown node: (.*?)(?=; did you mean |$)/s, 'there is no node "$1"'],
  [/build DAG: duplicate node ID: (.*)$/s, 'another node has the id "$1" as well'],
  [
    /build DAG: cycle detected in workflow graph \(excluding back-edges\)$/,
    'the edges form a circle; give the edge that leads back the member "loop"',
  ],
  [/build DAG: /, ''],
];

/**
 * Returns the text of a problem in the words of the docs, for people. Output for programs (`--json`) keeps the API's
 * text.
 */
export function plainDetail(detail: string): string {
  const found = SENTENCES.find(([pattern]) => pattern.test(detail));
  return found ? detail.replace(found[0], found[1]) : detail;
}

/** Problem with its file and position. */
interface PlacedProblem {
  file?: string;
  line?: number;
  column?: number;
}

/**
 * Sorts problems by file and position. Files keep the order in which they first appear; problems without a file come
 * first.
 */
export function sortByPlace<T extends PlacedProblem>(problems: readonly T[]): T[] {
  const files = [...new Set(problems.map(({ file }) => file))];
  const rank = (file: string | undefined): number => (file === undefined ? -1 : files.indexOf(file));
  return problems.toSorted(
    (one, other) =>
      rank(one.file) - rank(other.file) ||
      (one.line ?? 0) - (other.line ?? 0) ||
      (one.column ?? 0) - (other.column ?? 0),
  );
}
