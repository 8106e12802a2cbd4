import type { Artifact, JsonObject } from '#libs/protocol';
import { useSharedStage } from '../support/shared-stage.js';
import { script, unique } from '../support/workflow.js';

const stage = useSharedStage();

const chunk = (text: string, append: boolean) => ({ artifact: { artifactId: 'a', parts: [{ text }], append } });

interface Progress {
  text?: string;
  artifact?: Artifact & { append?: boolean };
}

/** With pieces that follow each other as one: on a slow machine they are told one by one. */
function joined(progress: JsonObject[]): Progress[] {
  const steps: Progress[] = [];
  for (const { text, artifact } of progress as Progress[]) {
    const last = steps.at(-1)?.artifact;
    if (!artifact || !last)
      steps.push(structuredClone({ ...(text !== undefined && { text }), ...(artifact && { artifact }) }));
    else last.parts[0]!.text = `${last.parts[0]?.text}${artifact.parts[0]?.text}`;
  }
  return steps;
}

describe('node.progress', () => {
  it('says what a node is doing and making, before it is done', async () => {
    const slow = script(
      'slow',
      { status: 'working', text: 'reading' },
      chunk('one ', false),
      chunk('two ', true),
      { sleep: 1_500 },
      { status: 'working', text: 'writing' },
      chunk('three', true),
      { sleep: 1_500 },
      { complete: 'done' },
    );
    const frames = await stage.api.trace({ name: unique('progress'), nodes: [slow], edges: [] });
    const progress = frames.filter(({ event }) => event === 'node.progress').map(({ data }) => data);
    expect(new Set(progress.map(({ node_id }) => node_id))).toEqual(new Set(['slow']));
    expect(joined(progress.map(({ payload }) => payload))).toEqual([
      { text: 'reading' },
      { artifact: { artifactId: 'a', parts: [expect.objectContaining({ text: 'one two ' })] } },
      { text: 'writing' },
      { artifact: { artifactId: 'a', parts: [expect.objectContaining({ text: 'three' })], append: true } },
    ]);
    const completed = frames.findIndex(({ event }) => event === 'node.completed');
    expect(frames.findLastIndex(({ event }) => event === 'node.progress')).toBeLessThan(completed);
    expect(frames.at(-1)?.data.payload).toMatchObject({ status: 'completed' });
  });
});
