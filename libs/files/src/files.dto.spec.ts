import { ProblemError, readBody } from '#libs/http-server';
import { FileUrlBody } from './files.dto.js';

function refusal(sent: object): ProblemError {
  try {
    void readBody(FileUrlBody, sent).durationMs;
  } catch (error) {
    if (error instanceof ProblemError) return error;
    throw error;
  }
  throw new Error('Expected a refusal');
}

describe('FileUrlBody', () => {
  it.each([
    [{}, 900_000],
    [{ expiresIn: '1s' }, 1_000],
    [{ expiresIn: '24h' }, 86_400_000],
  ])('has an address valid for as long as %j says', (sent, duration) => {
    expect(readBody(FileUrlBody, sent).durationMs).toBe(duration);
  });

  it.each([
    [{ expiresIn: '25h' }, 'expiresIn'],
    [{ expiresIn: '0s' }, 'expiresIn'],
    [{ expiresIn: 'soon' }, 'expiresIn'],
    [{ expiresIn: 15 }, 'expiresIn'],
    [{ until: 'x' }, 'until'],
  ])('refuses %j with 400 and the member', (sent, path) => {
    const { status, errors } = refusal(sent);
    expect([status, errors]).toEqual([400, [{ path, detail: expect.any(String) }]]);
  });
});
