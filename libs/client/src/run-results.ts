import type { EventArtifact } from './run-event.js';

/** Run that may have a result. */
interface EndedRun {
  /** A2A Artifacts of the run; absent before its end. */
  result?: readonly Record<string, unknown>[] | undefined;
}

/** Returns the text of a run's result: the texts of its Artifacts, one after the other; '' if it has none. */
export function textOf(run: EndedRun): string {
  return artifactsOf(run)
    .map((artifact) => artifactText(artifact))
    .filter((text) => text !== '')
    .join('\n');
}

/** Returns the first data of a run's result; `undefined` if it has none. */
export function dataOf<T = unknown>(run: EndedRun): T | undefined {
  for (const artifact of artifactsOf(run)) {
    const data = artifactData(artifact);
    if (data !== undefined) return data as T;
  }
  return undefined;
}

/** Returns the results of a run by the ids of their `output` nodes: the data of each, or its text if it has no data. */
export function outputsOf<T extends object = Record<string, unknown>>(run: EndedRun): Partial<T> {
  const named = artifactsOf(run).map((artifact) => [
    artifact.name ?? artifact.artifactId,
    artifactData(artifact) ?? artifactText(artifact),
  ]);
  return Object.fromEntries(named) as Partial<T>;
}

function artifactsOf({ result = [] }: EndedRun): EventArtifact[] {
  return result as unknown as EventArtifact[];
}

function artifactText({ parts }: EventArtifact): string {
  return parts.map(({ text }) => text ?? '').join('');
}

function artifactData({ parts }: EventArtifact): unknown {
  return parts.find(({ data }) => data !== undefined)?.data;
}
