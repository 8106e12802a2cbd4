import { range } from '../support/sse.js';
import { type Api, input, linear, output, script, unique } from '../support/workflow.js';

/** What a refusal says, whoever heard it. */
export interface Refusal {
  status: number;
  reason: string | undefined;
  paths: string[];
}

/** Someone who speaks to the management API about runs. */
export interface RunClient {
  /** The id of the run that is started, or was under this key. @throws Refused */
  run(workflow: string, inputs: Record<string, string>, key: string): Promise<string>;
  /** Every event after `since`, to the end of the run, over as many connections as that takes. */
  events(runId: string, since?: number): AsyncIterable<{ type: string; sequence: number }>;
  ended(runId: string): Promise<{ status: string; result?: { parts: { text?: string }[] }[] }>;
  /** @throws Refused */
  answer(runId: string, node: string, data: boolean | string): Promise<void>;
  cancel(runId: string): Promise<string>;
  rerun(runId: string, from: string[]): Promise<{ runId: string; origin: string }>;
}

export class Refused extends Error {
  constructor(readonly refusal: Refusal) {
    super(`${refusal.status} ${refusal.reason}`);
  }
}

const CUTS = 20;

/** What every client of runs may rely on. @param cut ends all connections that lead to the service */
export function describeRunClient(make: () => RunClient, api: () => Api, cut: () => void): void {
  const about = (name: string) => linear(name, input('topic'), output('end', { prompt: 'about {{topic}}' }));
  const refusalOf = async (work: Promise<unknown>): Promise<Refusal | undefined> => {
    try {
      await work;
    } catch (error) {
      if (error instanceof Refused) return error.refusal;
      throw error;
    }
    return undefined;
  };

  it('starts one run for a key, and refuses another request under it', async () => {
    const client = make();
    const { name } = await api().save(about(unique('once')));
    const key = unique('key');
    const runId = await client.run(name, { topic: 'tea' }, key);
    expect(await client.run(name, { topic: 'tea' }, key)).toBe(runId);
    expect(await refusalOf(client.run(name, { topic: 'gin' }, key))).toMatchObject({
      status: 409,
      reason: 'IDEMPOTENCY_CONFLICT',
    });
    expect(await client.ended(runId)).toMatchObject({
      status: 'completed',
      result: [{ parts: [{ text: 'about tea' }] }],
    });
  });

  it('names what is wrong with a request', async () => {
    const client = make();
    const { name } = await api().save(about(unique('wrong')));
    expect(await refusalOf(client.run(name, {}, unique('key')))).toMatchObject({
      status: 422,
      reason: 'MISSING_INPUT',
    });
    expect(await refusalOf(client.run(unique('no'), {}, unique('key')))).toMatchObject({ status: 404 });
  });

  it(`sees each event once, in order, though its connections are cut ${CUTS} times`, async () => {
    const client = make();
    const pieces = range(1, 12).map((n) => script(`n${n}`, { status: 'working' }, { sleep: 60 }, { complete: 'done' }));
    const { name } = await api().save(linear(unique('cut'), ...pieces));
    const runId = await client.run(name, {}, unique('key'));
    const seen: number[] = [];
    let last = '';
    for await (const { type, sequence } of client.events(runId)) {
      seen.push(sequence);
      last = type;
      if (seen.length <= CUTS) cut();
    }
    expect(last).toBe('done');
    expect(seen.length).toBeGreaterThan(CUTS);
    expect(seen).toEqual(range(1, seen.length));
    const rest: number[] = [];
    for await (const { sequence } of client.events(runId, 5)) rest.push(sequence);
    expect(rest).toEqual(seen.slice(5));
  });

  it('answers what a run asks', async () => {
    const client = make();
    const form = { type: 'boolean' };
    const { name } = await api().save(
      linear(unique('ask'), { id: 'gate', type: 'human', config: { prompt: 'ok?', form } }),
    );
    const runId = await client.run(name, {}, unique('key'));
    for await (const { type } of client.events(runId)) if (type === 'input.required') break;
    const wrong = await refusalOf(client.answer(runId, 'gate', 'perhaps'));
    expect(wrong?.status).toBe(422);
    expect(wrong?.paths).not.toEqual([]);
    await client.answer(runId, 'gate', true);
    expect((await client.ended(runId)).status).toBe('completed');
    expect((await refusalOf(client.answer(runId, 'gate', true)))?.status).toBe(409);
  });

  it('cancels, and runs anew', async () => {
    const client = make();
    const slow = await api().save(linear(unique('slow'), script('slow', { sleep: 60_000 })));
    const runId = await client.run(slow.name, {}, unique('key'));
    expect(await client.cancel(runId)).toBe('canceled');
    expect((await client.ended(runId)).status).toBe('canceled');
    const { name } = await api().save(about(unique('anew')));
    const first = await client.run(name, { topic: 'tea' }, unique('key'));
    await client.ended(first);
    const again = await client.rerun(first, ['end']);
    expect(again.origin).toBe(first);
    expect((await client.ended(again.runId)).status).toBe('completed');
  });
}
