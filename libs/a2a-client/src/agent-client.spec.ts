import { CalledTask } from './agent-client.js';

describe('a called Task', () => {
  it('joins what later chunks of an Artifact say with what is known of it', () => {
    const task = new CalledTask();
    const chunk = (artifact: object, append: boolean) =>
      task.applyResponse({
        artifactUpdate: { taskId: 't', contextId: 'c', append, artifact: { artifactId: 'a', parts: [], ...artifact } },
      });
    chunk({ parts: [{ text: 'x' }], name: 'draft', metadata: { one: 1, both: 1 } }, false);
    chunk({ parts: [{ text: 'y' }], metadata: { two: 2, both: 2 }, description: 'whole', extensions: ['e'] }, true);
    chunk({ parts: [{ text: 'z' }], name: 'final' }, true);
    expect(task.artifacts).toEqual([
      {
        artifactId: 'a',
        parts: [{ text: 'x' }, { text: 'y' }, { text: 'z' }],
        name: 'final',
        description: 'whole',
        extensions: ['e'],
        metadata: { one: 1, two: 2, both: 2 },
      },
    ]);
  });
});
