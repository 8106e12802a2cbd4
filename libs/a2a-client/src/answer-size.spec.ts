import type { Artifact, StreamResponse } from '#libs/protocol';
import { AnswerSize } from './answer-limits.js';

const artifact = (artifactId: string, characters: number): Artifact => ({
  artifactId,
  parts: [{ text: 'x'.repeat(characters) }],
});
const update = (artifactId: string, characters: number, append = false): StreamResponse => ({
  artifactUpdate: { taskId: 't', contextId: 'c', artifact: artifact(artifactId, characters), append },
});

describe('AnswerSize', () => {
  const limits = { artifact: 1_000, task: 2_500 };

  it('limits an Artifact by all its chunks', () => {
    const size = new AnswerSize(limits);
    size.countResponse(update('a', 600));
    size.countResponse(update('a', 600));
    expect(() => size.countResponse(update('a', 600, true))).toThrow(
      'an artifact of the agent has more than 1000 characters (ARTIFACT_LIMIT)',
    );
  });

  it('limits all Artifacts together; a snapshot stands for what came before', () => {
    const size = new AnswerSize(limits);
    for (const id of ['a', 'b', 'c']) size.countResponse(update(id, 700));
    const status = { state: 'TASK_STATE_WORKING' as const };
    size.countResponse({ task: { id: 't', contextId: 'c', status, artifacts: [artifact('a', 700)] } });
    for (const id of ['b', 'c']) size.countResponse(update(id, 700));
    expect(() => size.countResponse(update('d', 700))).toThrow(
      "the agent's answer has more than 2500 characters (TASK_LIMIT)",
    );
  });

  it('limits the number of Artifacts that have no content', () => {
    const size = new AnswerSize(limits);
    expect(() => {
      for (let it = 0; it < 100; it += 1) size.countResponse(update(`a${it}`, 0));
    }).toThrow("the agent's answer has more than 2500 characters (TASK_LIMIT)");
    // A client that may poll the Task after an error must not read such an answer again.
    expect(size.isExceeded).toBe(true);
  });
});
