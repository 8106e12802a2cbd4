import { firstData, joinedText } from './message.js';
import { spokenParts, withoutBytes } from './passed-parts.js';
import type { Artifact } from './task.js';

/**
 * Resolves a reference to a node, given the node's first Artifact. The suffix `data` gives its first data Part as
 * compact JSON. Any other suffix, or none, gives its text, else its data, else the Artifact as JSON, with the size of
 * files (`size`, in bytes) in place of their bytes.
 * @returns `undefined` if there is nothing to refer to: the reference stays verbatim
 */
export function artifactReference(artifact: Artifact | undefined, suffix: readonly string[]): string | undefined {
  if (artifact === undefined) return undefined;
  const data = firstData(artifact.parts);
  if (suffix.length === 1 && suffix[0] === 'data') return data === undefined ? undefined : JSON.stringify(data);
  const text = joinedText(artifact.parts);
  if (text) return text;
  if (data !== undefined) return JSON.stringify(data);
  const parts = spokenParts(artifact.parts);
  return parts.length === 0 ? '' : JSON.stringify({ ...artifact, parts: parts.map(withoutBytes) });
}
