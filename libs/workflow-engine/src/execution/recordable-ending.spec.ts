import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { PartRestorer, RequestContext } from '#libs/agents';
import type { Part } from '#libs/protocol';
import type { WorkflowGraph } from '#libs/workflow-definition';
import { type ChildEnding, reportRecordable } from './child-ending.js';

const KEPT: Part = { url: 'http://own/api/files/1', mediaType: 'image/png' };
const RAW: Part = { raw: 'AAAA', mediaType: 'image/png' };
const ENDING = {
  kind: 'completed',
  artifacts: [
    { artifactId: 'a', parts: [KEPT] },
    { artifactId: 'b', parts: [{ text: 'x' }] },
    { artifactId: 'c', parts: [KEPT] },
  ],
} as unknown as ChildEnding;

/** Creates a fake run that stores large Parts, and records the calls to its PartRestorer. */
function runOf(text: string, restore: () => Promise<Part[]> = async () => [RAW]) {
  const asked: string[] = [];
  const partRestorer = (): PartRestorer => {
    asked.push('open');
    return {
      restoreParts: () => {
        asked.push('restore');
        return restore();
      },
      [Symbol.dispose]: () => void asked.push('dispose'),
    };
  };
  const context = { taskId: 'run', signal: AbortSignal.timeout(60_000), partRestorer } as Partial<RequestContext>;
  const graph = { definition: { nodes: [{ text }] } } as unknown as WorkflowGraph;
  return { asked, run: { context: context as RequestContext, graph } };
}

describe('The ending of a node whose files expressions may read', () => {
  it('holds the bytes of all its files in one account until the run has taken it', async () => {
    const { asked, run } = runOf('{{nodes.a.artifacts}}');
    const taken = Promise.withResolvers<void>();
    const endings: ChildEnding[] = [];
    const reported = reportRecordable(ENDING, run, (ending) => {
      endings.push(ending);
      return taken.promise;
    });
    await new Promise(setImmediate);
    expect(endings).toMatchObject([{ artifacts: [{ parts: [RAW] }, { parts: [{ text: 'x' }] }, { parts: [RAW] }] }]);
    expect(asked).toEqual(['open', 'restore', 'restore']);
    taken.resolve();
    await reported;
    expect(asked).toEqual(['open', 'restore', 'restore', 'dispose']);
  });

  it('holds nothing where a file cannot be read', async () => {
    jest.spyOn(Logger.prototype, 'error').mockReturnValue();
    const { asked, run } = runOf('{{nodes.a.artifacts}}', () => Promise.reject(new Error('away')));
    const endings: ChildEnding[] = [];
    await reportRecordable(ENDING, run, async (ending) => void endings.push(ending));
    expect(endings).toMatchObject([{ kind: 'failed', error: 'a file of the answer cannot be read' }]);
    expect(asked).toEqual(['open', 'restore', 'dispose']);
  });

  it('opens no account where no expression may read bytes', async () => {
    const { asked, run } = runOf('{{a}}');
    await reportRecordable(ENDING, run, async () => undefined);
    expect(asked).toEqual([]);
  });
});
