/** Groups of settings for a node's execution, in addition to its config. */
export type Control = 'join' | 'follow' | 'each' | 'failure' | 'result' | 'wait';

/** Controls of the node types that have fewer controls than an `agent` node. */
const CONTROLS: Readonly<Record<string, readonly Control[]>> = {
  input: ['follow'],
  set: ['join', 'follow', 'each', 'failure'],
  wait: ['join', 'follow', 'failure'],
  output: ['join', 'follow', 'failure', 'result'],
  human: ['wait', 'join', 'follow', 'each', 'failure'],
};

const AGENT: readonly Control[] = ['join', 'follow', 'each', 'failure', 'result', 'wait'];

/** Returns the controls of a node type, in the order shown. */
export function controlsOf(type: string): readonly Control[] {
  return CONTROLS[type] ?? AGENT;
}
