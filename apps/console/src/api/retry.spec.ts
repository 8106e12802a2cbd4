import { ApiProblem } from './problem.js';
import { retryTransient } from './retry.js';

describe('retryTransient', () => {
  it('repeats what fails while the service is not ready', async () => {
    const failures = [new ApiProblem(503, 'not ready')];
    const work = async (): Promise<string> => {
      const failure = failures.pop();
      if (failure) throw failure;
      return 'done';
    };
    await expect(retryTransient(work, new AbortController().signal)).resolves.toBe('done');
  });

  it('throws a failure that stays', async () => {
    const refused = new ApiProblem(413, 'too large');
    const work = (): Promise<never> => Promise.reject(refused);
    await expect(retryTransient(work, new AbortController().signal)).rejects.toBe(refused);
  });

  it('ends without an answer once its signal is aborted', async () => {
    const stop = new AbortController();
    const work = (): Promise<never> => {
      stop.abort();
      return Promise.reject(new ApiProblem(0, 'away'));
    };
    await expect(retryTransient(work, stop.signal)).resolves.toBeUndefined();
  });
});
