import { Readiness } from './readiness.js';

describe('Readiness', () => {
  it('fails a check that throws, rejects or says false, and tells nothing but its name', async () => {
    const readiness = new Readiness();
    readiness.add('fine', () => undefined);
    readiness.add('no', () => false);
    readiness.add('rejects', () => Promise.reject(new Error('secret')));
    readiness.add('throws', () => {
      throw new Error('secret');
    });
    expect(await readiness.runChecks()).toEqual({
      fine: true,
      no: false,
      rejects: false,
      throws: false,
      accepting: true,
    });
    readiness.draining = true;
    expect((await readiness.runChecks())['accepting']).toBe(false);
  });
});
