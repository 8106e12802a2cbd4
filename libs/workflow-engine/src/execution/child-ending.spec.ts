import { CalledTask } from '#libs/a2a-client';
import type { Artifact } from '#libs/protocol';
import { readChildEnding } from './child-ending.js';

const artifact = (artifactId: string): Artifact => ({ artifactId, name: artifactId, parts: [{ text: artifactId }] });

/** The Artifacts of a node `n` whose Task has made these. */
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
