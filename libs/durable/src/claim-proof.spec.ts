import { jest } from '@jest/globals';
import { ClaimProof } from './agent-call-spec.js';

let now = 100_000;

beforeAll(() => {
  jest.spyOn(performance, 'now').mockImplementation(() => now);
});

afterAll(() => {
  jest.restoreAllMocks();
});

/**
 * Creates a store whose answers take the given numbers of milliseconds, one after the other. `asked` gets the times of
 * the queries.
 */
function answersAfter(...milliseconds: number[]) {
  const asked: number[] = [];
  const prove = async (): Promise<void> => {
    asked.push(now);
    const took = milliseconds.shift();
    if (took === undefined) throw new Error('Asked too often');
    now += took;
  };
  return { asked, prove };
}

describe('ClaimProof', () => {
  it('asks nothing where an event was taken a moment ago', async () => {
    const { asked, prove } = answersAfter();
    await new ClaimProof(now - 500, prove).renewProof();
    expect(asked).toEqual([]);
  });

  it('lets a call out on one answer of a slow database', async () => {
    const { asked, prove } = answersAfter(3_000);
    await new ClaimProof(-Infinity, prove).renewProof();
    expect(asked).toHaveLength(1);
  });

  it('asks again where the process stood still before it saw the answer', async () => {
    const { asked, prove } = answersAfter(60_000, 10);
    await new ClaimProof(-Infinity, prove).renewProof();
    expect(asked).toHaveLength(2);
  });

  it('waits while the database is too busy to answer in time', async () => {
    const { asked, prove } = answersAfter(6_000, 8_000, 6_000, 10);
    await new ClaimProof(-Infinity, prove).renewProof();
    expect(asked).toHaveLength(4);
  });

  it('gives up after two minutes without an answer in time, and lets nothing out', async () => {
    const { asked, prove } = answersAfter(...Array<number>(30).fill(6_000));
    const failure = { kind: 'timeout', unsent: true };
    await expect(new ClaimProof(-Infinity, prove).renewProof()).rejects.toMatchObject(failure);
    expect(asked).toHaveLength(24);
  });

  it('keeps a call of a run that goes on elsewhere', async () => {
    const prove = async (): Promise<void> => {
      throw new Error('Lost');
    };
    await expect(new ClaimProof(-Infinity, prove).renewProof()).rejects.toMatchObject({
      kind: 'aborted',
      unsent: true,
    });
  });
});
