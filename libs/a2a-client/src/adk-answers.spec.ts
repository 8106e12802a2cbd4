import type { JsonObject } from '#libs/protocol';
import { callStreaming, place, states, status, task, textsOf, useWireAgents } from './testing/wire-calls.js';

useWireAgents();

describe('partial Artifacts (Agent Development Kit)', () => {
  const update = (artifactId: string, text: string, isPartial: boolean, append = false): JsonObject => ({
    artifactUpdate: {
      ...place,
      append,
      artifact: { artifactId, parts: [{ text }] },
      metadata: { adk_partial: isPartial },
    },
  });

  it.each<[string, JsonObject[], string[]]>([
    [
      'are left out where the whole one comes under another id',
      [update('p', 'fo', true), update('p', 'ur', true, true), update('w', 'four', false)],
      ['four'],
    ],
    ['are replaced by the whole one of the same id', [update('a', 'fo', true), update('a', 'four', false)], ['four']],
    ['are the answer where nothing else is', [update('p', 'fo', true), update('p', 'ur', true, true)], ['four']],
    [
      'are left out of a Task as well',
      [
        task(states.working, {
          artifacts: [
            { artifactId: 'p', parts: [{ text: 'fo' }], metadata: { adk_partial: true } },
            { artifactId: 'w', parts: [{ text: 'four' }] },
          ],
        }),
      ],
      ['four'],
    ],
  ])('%s', async (_what, updates, texts) => {
    expect(textsOf(await callStreaming([task(states.working), ...updates, status(states.completed)]))).toEqual(texts);
  });
});

describe('the question of an agent of ADK', () => {
  const call = { data: { id: 'call', name: 'ask' }, metadata: { adk_type: 'function_call' } };
  const artifact = (artifactId: string, part: JsonObject): JsonObject => ({
    artifactUpdate: { ...place, artifact: { artifactId, parts: [part] } },
  });

  it.each<[string, JsonObject[], string[]]>([
    ['is no part of the answer', [artifact('asked', call), artifact('told', { text: 'four' })], ['told']],
    ['is the answer where nothing else is', [artifact('asked', call)], ['asked']],
  ])('%s', async (_what, updates, ids) => {
    const { artifacts } = await callStreaming([task(states.working), ...updates, status(states.completed)]);
    expect(artifacts.map(({ artifactId }) => artifactId)).toEqual(ids);
  });
});
