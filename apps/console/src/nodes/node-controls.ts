/**
 * Sections of a node's panel with settings that are not in the node's config: when the node starts (`join`), its
 * outgoing edges (`follow`), its list (`each`), retries and fallback (`failure`), the schema of its result (`result`),
 * and a question without an answer (`wait`).
 */
export type Control = 'join' | 'follow' | 'each' | 'failure' | 'result' | 'wait';

/** Sections of each node type that has fewer sections than an `agent` node. */
const CONTROLS: Readonly<Record<string, readonly Control[]>> = {
  input: ['follow'],
  set: ['join', 'follow', 'each', 'failure'],
  wait: ['join', 'follow', 'failure'],
  output: ['join', 'follow', 'failure', 'result'],
  human: ['wait', 'join', 'follow', 'each', 'failure'],
};

const AGENT: readonly Control[] = ['join', 'follow', 'each', 'failure', 'result', 'wait'];

/** Returns the sections in the panel of a node type, in order. An unknown type has those of an `agent` node. */
export function controlsOf(type: string): readonly Control[] {
  return CONTROLS[type] ?? AGENT;
}
