import { CalledTask } from '#libs/a2a-client';
import type { Artifact, JsonObject } from '#libs/protocol';
import { readChildEnding } from './child-ending.js';

const artifact = (artifactId: string): Artifact => ({ artifactId, name: artifactId, parts: [{ text: artifactId }] });

/**
 * Returns the names of a node's Artifacts, in order, if its Task has produced Artifacts with the names `made`.
 * @param type type of the node, whose id is `n`
 */
function outputs(type: string, ...made: string[]): string[] {
  const answer = new CalledTask();
  const status = { state: 'TASK_STATE_COMPLETED' as const };
  answer.applyResponse({ task: { id: 't', contextId: 'c', status, artifacts: made.map(artifact) } });
  const ending = readChildEnding({ id: 'n', type, config: {} }, 'http://node', { kind: 'completed', answer });
  if (ending.kind !== 'completed') throw new Error(`it is ${ending.kind}`);
  return ending.artifacts.map(({ artifactId }) => artifactId);
}

describe('the Artifacts of a node', () => {
  it('begin with what it says, also where it made others before', () => {
    expect(outputs('of-a-plugin', 'log', 'n', 'more')).toEqual(['n', 'log', 'more']);
    expect(outputs('of-a-plugin', 'n', 'log')).toEqual(['n', 'log']);
    expect(outputs('of-a-plugin', 'log', 'more')).toEqual(['log', 'more']);
  });

  it.each(['external', 'script', 'workflow'])('of the type %s are as they were made', (type) => {
    expect(outputs(type, 'log', 'n')).toEqual(['log', 'n']);
  });
});

describe('the error of an agent elsewhere', () => {
  const failure = { kind: 'connect' as const, message: 'no connection (ECONNREFUSED)', retryable: true };
  const errorOf = (type: string, description: string | undefined, kind: 'connect' | 'timeout' = 'connect'): unknown => {
    const config: JsonObject = description === undefined ? {} : { description };
    const outcome = { kind: 'failed' as const, answer: new CalledTask(), failure: { ...failure, kind } };
    const ending = readChildEnding({ id: 'n', type, config }, 'http://agent', outcome);
    return ending.kind === 'failed' ? ending.error : ending.kind;
  };

  it('says what its author wrote about it, if it cannot be reached', () => {
    const call = 'external agent call to http://agent: no connection (ECONNREFUSED)';
    expect(errorOf('external', 'Start it: parley agent --port 4001')).toBe(
      `${call} (Start it: parley agent --port 4001)`,
    );
    expect(String(errorOf('external', 'x'.repeat(1_000))).length).toBeLessThan(call.length + 310);
    expect(errorOf('external', undefined)).toBe(call);
    expect(errorOf('external', 'Start it', 'timeout')).toBe(call);
    expect(errorOf('agent', 'Start it')).toBe('no connection (ECONNREFUSED)');
  });
});
