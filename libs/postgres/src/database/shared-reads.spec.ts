import { BatchLoader } from './shared-reads.js';

/** Creates a loader whose queries wait until the test answers them, one by one. */
function held(most?: number) {
  const queries: { keys: readonly string[]; answer(values: Record<string, number>): void; fail(error: Error): void }[] =
    [];
  let asked: (() => void) | undefined;
  const reader = new BatchLoader<string, number>(
    (keys) =>
      new Promise((resolve, reject) => {
        queries.push({ keys, answer: (values) => resolve(new Map(Object.entries(values))), fail: reject });
        asked?.();
      }),
    most,
  );
  const query = async (index: number) => {
    while (queries.length <= index) await new Promise<void>((resolve) => (asked = resolve));
    return queries[index]!;
  };
  return { reader, query };
}

describe('BatchLoader', () => {
  it('asks once for what is asked together', async () => {
    const { reader, query } = held();
    const answers = Promise.all([reader.get('a'), reader.get('b'), reader.get('a'), reader.get('c')]);
    const first = await query(0);
    expect(first.keys).toEqual(['a', 'b', 'c']);
    first.answer({ a: 1, b: 2 });
    expect(await answers).toEqual([1, 2, 1, undefined]);
  });

  it('never answers with a query that began before the question', async () => {
    const { reader, query } = held();
    const early = reader.get('a');
    const first = await query(0);
    const late = reader.get('a');
    first.answer({ a: 1 });
    expect(await early).toBe(1);
    (await query(1)).answer({ a: 2 });
    expect(await late).toBe(2);
  });

  it('asks for so many at most', async () => {
    const { reader, query } = held(2);
    const answers = Promise.all([reader.get('a'), reader.get('b'), reader.get('c')]);
    const first = await query(0);
    expect(first.keys).toEqual(['a', 'b']);
    first.answer({ a: 1, b: 2 });
    const second = await query(1);
    expect(second.keys).toEqual(['c']);
    second.answer({ c: 3 });
    expect(await answers).toEqual([1, 2, 3]);
  });

  it('fails those who asked, and goes on', async () => {
    const { reader, query } = held();
    const lost = reader.get('a');
    (await query(0)).fail(new Error('gone'));
    await expect(lost).rejects.toThrow('gone');
    const next = reader.get('a');
    (await query(1)).answer({ a: 3 });
    expect(await next).toBe(3);
  });
});
