import { QueryObserver } from '@tanstack/react-query';
import { ApiProblem } from './problem.js';
import { queries, retryFailed } from './queries.js';
import { createRefresh } from './use-live.js';

const queryKey: readonly unknown[] = ['list'];
let loads: PromiseWithResolvers<string>[];
let started: PromiseWithResolvers<void>;
let observer: QueryObserver<string>;
let leave: () => void;

beforeEach(() => {
  loads = [];
  started = Promise.withResolvers();
  const queryFn = (): Promise<string> => {
    const load = Promise.withResolvers<string>();
    loads.push(load);
    started.resolve();
    return load.promise;
  };
  observer = new QueryObserver(queries, { queryKey, queryFn, retryDelay: 1 });
  leave = observer.subscribe(() => undefined);
});
afterEach(() => {
  leave();
  queries.clear();
});

async function settleAndAwaitNext(answer: string): Promise<void> {
  started = Promise.withResolvers();
  loads.at(-1)?.resolve(answer);
  await started.promise;
}

function observed(isReached: () => boolean): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const unsubscribe = observer.subscribe(() => isReached() && resolve());
  return promise.finally(unsubscribe);
}

describe('createRefresh', () => {
  it('loads once more after a load during which the list changed, and never twice at a time', async () => {
    const refresh = createRefresh(() => queryKey, 0, new AbortController().signal);
    refresh();
    expect(loads).toHaveLength(1);
    await settleAndAwaitNext('before the first change');
    refresh();
    refresh();
    expect(loads).toHaveLength(2);
    await settleAndAwaitNext('before the last change');
    const shown = observed(() => observer.getCurrentResult().data === 'the newest');
    loads[2]?.resolve('the newest');
    await shown;
    expect([loads.length, queries.isFetching()]).toEqual([3, 0]);
  });
});

describe('retryFailed', () => {
  it('loads at once what waits for its retry', async () => {
    const failed = observed(() => observer.getCurrentResult().failureCount === 1);
    loads[0]?.reject(new ApiProblem(503, 'not ready'));
    await failed;
    retryFailed();
    expect(loads).toHaveLength(2);
    const shown = observed(() => observer.getCurrentResult().data === 'an answer');
    loads[1]?.resolve('an answer');
    await shown;
    expect(observer.getCurrentResult().failureReason).toBeNull();
  });
});
