import { InputNode, OutputNode } from './node-executor.js';
import { artifactParts, outline, played, turn } from './testing/turn.js';

const node = { id: 'in', type: 'input', config: {} };

describe('input and output nodes', () => {
  it('K2, B13 answers with the Message it received: working, one Artifact, completed with the same Parts', async () => {
    const events = await played(new InputNode().createExecutor(node), turn([{ text: 'hello' }, { data: { a: 1 } }]));
    expect(outline(events)).toEqual(['working', 'artifact', 'completed']);
    const parts = [{ text: 'hello', mediaType: 'text/plain' }, { data: { a: 1 } }];
    expect(events[1]).toMatchObject({ artifactUpdate: { artifact: { artifactId: 'in', name: 'in', parts } } });
    expect(events[2]).toMatchObject({ statusUpdate: { status: { message: { role: 'ROLE_AGENT', parts } } } });
  });

  it('take files of every media type, and answer with them', async () => {
    const picture = { raw: 'aGk=', mediaType: 'image/png', filename: 'a.png' };
    for (const type of [new InputNode(), new OutputNode()]) {
      const executor = type.createExecutor(node);
      expect(executor.declares?.inputModes).toContain('*/*');
      expect(artifactParts(await played(executor, turn([picture])))).toEqual([picture]);
    }
  });

  it.each([0, 1, 2, 3])('goes on after %i recorded events', async (recovered) => {
    const executor = new OutputNode().createExecutor({ ...node, type: 'output' });
    expect(executor.recovery).toBe('restart');
    const events = await played(executor, turn('x', { recovered }));
    expect(outline(events)).toEqual(['working', 'artifact', 'completed'].slice(recovered));
    if (recovered < 2) expect(artifactParts(events)).toEqual([{ text: 'x', mediaType: 'text/plain' }]);
  });

  it('takes a prompt only as a string', () => {
    const broken = { id: 'out', type: 'output', config: { prompt: 7 } };
    expect(new OutputNode().findProblems(broken)).toEqual([
      { path: 'config.prompt', detail: 'output node "out": prompt must be a string' },
    ]);
  });
});
