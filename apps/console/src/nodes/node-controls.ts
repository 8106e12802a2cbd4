/** What can be set of how a node runs, beside its config. */
export type Control = 'join' | 'follow' | 'each' | 'failure' | 'result' | 'wait';

/** Types of which less makes sense than of an agent. */
const CONTROLS: Readonly<Record<string, readonly Control[]>> = {
  input: ['follow'],
  set: ['join', 'follow', 'each', 'failure'],
  wait: ['join', 'follow', 'failure'],
  human: ['wait', 'join', 'follow', 'each', 'failure'],
};

const AGENT: readonly Control[] = ['join', 'follow', 'each', 'failure', 'result', 'wait'];

/** What can be set at nodes of a type, in the order in which it is shown. */
export function controlsOf(type: string): readonly Control[] {
  return CONTROLS[type] ?? AGENT;
}
