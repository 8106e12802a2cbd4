import { isForbidden } from '../api/problem.js';
import { RunLog } from './run-log.js';

const DONE = { id: '1', type: 'done', runId: 'r', workflow: 'w', sequence: 1, timestamp: '2026-01-01T00:00:00Z' };
const stream = (): Response =>
  new Response(`id: 1\nevent: done\ndata: ${JSON.stringify({ ...DONE, payload: {} })}\n\n`, {
    headers: { 'content-type': 'text/event-stream' },
  });
const refusal = (status: number): Response => Response.json({ status, detail: `refused with ${status}` }, { status });

/** Reads the log of a run until `isReached` is true, from a service that gives these answers in order. */
async function read(answers: Response[], isReached: (log: RunLog) => boolean): Promise<RunLog> {
  globalThis.fetch = async () => answers.shift() ?? refusal(404);
  const log = new RunLog('r', { nodes: [], edges: [] } as unknown as ConstructorParameters<typeof RunLog>[1]);
  const reached = new Promise<void>((resolve) => log.subscribe(() => isReached(log) && resolve()));
  const stop = log.startReading();
  await reached;
  stop();
  return log;
}

describe('RunLog', () => {
  const { fetch } = globalThis;
  beforeAll(
    () =>
      void Object.assign(globalThis, {
        location: { origin: 'http://parley.example' },
        sessionStorage: { getItem: () => null },
      }),
  );
  afterAll(() => void Object.assign(globalThis, { fetch, location: undefined, sessionStorage: undefined }));

  it('reads on after an answer of 500', async () => {
    const log = await read([refusal(500), stream()], ({ getView }) => getView().connection === 'ended');
    expect([log.getView().lines.length, log.getView().error]).toEqual([1, undefined]);
  });

  it('shows a refusal as one that another key may end', async () => {
    const log = await read([refusal(403), stream()], ({ getView }) => getView().error !== undefined);
    expect([isForbidden(log.getView().error), log.getView().connection]).toEqual([true, 'lost']);
  });
});
