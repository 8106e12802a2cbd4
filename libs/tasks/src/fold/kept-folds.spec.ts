import { FoldMemory, KeptFolds } from './fold-memory.js';

const fold = (state: string) => ({ state, place: { sequence: 1, digest: state } });

/** Returns a caller with this tenant and name. */
const caller = (tenant: string, owner = '') => ({ tenant, owner });

type Kept = [taskId: string, tenant: string, weight: number, owner?: string];

/** Creates a cache with a limit of 100 bytes, of which one tenant may use 75, and stores these folds in it. */
function filled(...kept: Kept[]): { folds: KeptFolds<string>; memory: FoldMemory } {
  const memory = new FoldMemory(undefined, 100);
  const folds = new KeptFolds<string>(memory);
  keep(folds, ...kept);
  return { folds, memory };
}

function keep(folds: KeptFolds<string>, ...kept: Kept[]): void {
  for (const [taskId, tenant, weight, owner] of kept)
    folds.keepFold({ taskId, ...caller(tenant, owner) }, weight, fold(taskId));
}

const left = (folds: KeptFolds<string>, ...taskIds: string[]) => taskIds.filter((id) => folds.get(id));

/**
 * Creates a FoldMemory for a process under memory pressure. `full` has the callers that use too much memory;
 * `undefined` in it stands for the whole process.
 */
function pressed(): { memory: FoldMemory; full: Set<string | undefined> } {
  const full = new Set<string | undefined>();
  return { memory: new FoldMemory({ isFull: (account) => full.has(undefined) || full.has(account) }, 100), full };
}

describe('The folds that a replica keeps', () => {
  it('have one owner: what was taken out is not there for anybody else', () => {
    const { folds, memory } = filled(['a', '', 10]);
    expect(folds.get('a')).toEqual(fold('a'));
    expect(folds.takeFold('a')).toEqual(fold('a'));
    expect([folds.takeFold('a'), folds.get('a'), memory.weight]).toEqual([undefined, undefined, 0]);
  });

  it('are bounded together: among callers with as much, those that were kept longest ago go first', () => {
    const { folds, memory } = filled(['a', '1', 40], ['b', '2', 40], ['a', '1', 40], ['c', '3', 40]);
    expect(left(folds, 'a', 'b', 'c')).toEqual(['a', 'c']);
    expect(memory.weight).toBe(80);
  });

  it('are bounded for each tenant, who takes no room from another one', () => {
    const { folds } = filled(
      ['x', 'other', 25],
      ['a', 'one', 25],
      ['b', 'one', 25],
      ['c', 'one', 30],
      ['d', 'one', 76],
    );
    expect(left(folds, 'x', 'a', 'b', 'c', 'd')).toEqual(['x', 'b', 'c']);
  });

  it('of a caller stay, however many others keep, while it has less than its equal share', () => {
    const { folds, memory } = filled(['x', 'small', 20], ['y', 'one', 20, 'small']);
    for (let index = 0; index < 1_000; index += 1)
      keep(folds, [`a${index}`, 'one', 10, 'a'], [`b${index}`, 'two', 10, 'b']);
    expect(left(folds, 'x', 'y', 'a999', 'b999')).toEqual(['x', 'y', 'a999', 'b999']);
    expect(memory.weight).toBe(100);
  });

  it('make room for those of a caller who comes late, by what the one with the most kept longest ago', () => {
    const { folds } = filled(...Array.from({ length: 7 }, (_, index): Kept => [`a${index}`, 'one', 10]));
    keep(folds, ['b', 'two', 30], ['c', 'three', 30]);
    expect(left(folds, 'a0', 'a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'b', 'c')).toEqual(['a3', 'a4', 'a5', 'a6', 'b', 'c']);
    keep(folds, ['d', 'four', 60]);
    expect(left(folds, 'a3', 'a4', 'b', 'c', 'd')).toEqual(['a3', 'a4', 'b', 'c']);
  });

  it('replace the fold of the same Task, whatever each of them weighs', () => {
    const { folds, memory } = filled(['a', '', 50], ['a', '', 10], ['b', '', 40]);
    expect([left(folds, 'a', 'b'), memory.weight]).toEqual([['a', 'b'], 50]);
    folds.clear();
    expect([left(folds, 'a', 'b'), memory.weight, folds.size]).toEqual([[], 0, 0]);
  });

  it('share the room with those of other caches, and are forgotten together', () => {
    const { folds, memory } = filled(['a', '', 40], ['b', '', 10]);
    const others = new KeptFolds<string>(memory);
    keep(others, ['a', '', 30]);
    expect([left(folds, 'a', 'b'), memory.weight]).toEqual([['b'], 40]);
    keep(others, ['b', '', 5]);
    memory.forgetTasks(['b']);
    expect([left(folds, 'a', 'b'), left(others, 'a', 'b'), memory.weight]).toEqual([[], ['a'], 30]);
  });

  it('are dropped, those of all caches and callers, as soon as anybody looks while the process needs its memory', () => {
    const { memory, full } = pressed();
    const [folds, others] = [new KeptFolds<string>(memory), new KeptFolds<string>(memory)];
    keep(folds, ['a', 'one', 10]);
    keep(others, ['b', 'two', 10]);
    full.add(undefined);
    expect([others.get('c'), folds.size, others.size, memory.weight]).toEqual([undefined, 0, 0, 0]);
    keep(folds, ['a', 'one', 10]);
    expect(folds.size).toBe(0);
  });

  it('of a caller with too much in flight are dropped, and those of nobody else', () => {
    const { memory, full } = pressed();
    const folds = new KeptFolds<string>(memory);
    keep(folds, ['a', 'one', 10], ['b', 'two', 10]);
    full.add('3:one');
    keep(folds, ['c', 'one', 10]);
    expect(left(folds, 'a', 'b', 'c')).toEqual(['b']);
  });
});
