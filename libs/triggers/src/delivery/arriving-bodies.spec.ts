import { jest } from '@jest/globals';
import { PassThrough } from 'node:stream';
import { ArrivingBodies } from './arriving-bodies.js';

describe('A body', () => {
  const bodies = new ArrivingBodies();

  afterEach(() => void jest.useRealTimers());

  it('is read to its end', async () => {
    const body = new PassThrough();
    body.write('a');
    body.end('b');
    expect((await bodies.readBytes(body)).toString()).toBe('ab');
    expect((await bodies.readBytes(undefined)).length).toBe(0);
  });

  it('that does not arrive in time is refused, and its sender disconnected', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    const body = new PassThrough();
    body.write('a');
    const read = bodies.readBytes(body).catch((error: unknown) => error);
    await jest.advanceTimersByTimeAsync(10_000);
    expect(await read).toMatchObject({ status: 408 });
    expect(body.destroyed).toBe(true);
  });

  it('whose sender closes the connection is refused', async () => {
    const body = new PassThrough();
    body.write('a');
    const read = bodies.readBytes(body).catch((error: unknown) => error);
    body.destroy(Object.assign(new Error('aborted'), { code: 'ECONNRESET' }));
    expect(await read).toMatchObject({ status: 400 });
  });
});
