import { KeptFolds } from './kept-folds.js';

const fold = (state: string) => ({ state, place: { sequence: 1, digest: state } });

/** Folds in 100 bytes, of which a tenant may have 75. */
function filled(...kept: [taskId: string, tenant: string, weight: number][]): KeptFolds<string> {
  const folds = new KeptFolds<string>(100);
  for (const [taskId, tenant, weight] of kept) folds.keep(taskId, tenant, weight, fold(taskId));
  return folds;
}

const left = (folds: KeptFolds<string>, ...taskIds: string[]) => taskIds.filter((id) => folds.get(id));

describe('The folds that a replica keeps', () => {
  it('have one owner: what was taken out is not there for anybody else', () => {
    const folds = filled(['a', '', 10]);
    expect(folds.get('a')).toEqual(fold('a'));
    expect(folds.take('a')).toEqual(fold('a'));
    expect([folds.take('a'), folds.get('a'), folds.weight]).toEqual([undefined, undefined, 0]);
  });

  it('are bounded together: those that were kept longest ago go first', () => {
    const folds = filled(['a', '1', 40], ['b', '2', 40], ['a', '1', 40], ['c', '3', 40]);
    expect(left(folds, 'a', 'b', 'c')).toEqual(['a', 'c']);
    expect(folds.weight).toBe(80);
  });

  it('are bounded for each tenant, who takes no room from another one', () => {
    const folds = filled(['x', 'other', 25], ['a', 'one', 25], ['b', 'one', 25], ['c', 'one', 30], ['d', 'one', 76]);
    expect(left(folds, 'x', 'a', 'b', 'c', 'd')).toEqual(['x', 'b', 'c']);
  });

  it('replace the fold of the same Task, whatever each of them weighs', () => {
    const folds = filled(['a', '', 50], ['a', '', 10], ['b', '', 40]);
    expect([left(folds, 'a', 'b'), folds.weight]).toEqual([['a', 'b'], 50]);
    folds.clear();
    expect([left(folds, 'a', 'b'), folds.weight, folds.size]).toEqual([[], 0, 0]);
  });
});
