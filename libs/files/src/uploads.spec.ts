import { jest } from '@jest/globals';
import { PassThrough } from 'node:stream';
import { watchPace } from './uploads.js';

const LOOK_MS = 30_000;
const ENOUGH = 120 * 1024;

describe('the pace of an upload', () => {
  let body: PassThrough;
  let connection: { bytesRead: number };
  let end: () => void;

  beforeEach(() => {
    jest.useFakeTimers();
    body = new PassThrough().resume();
    connection = { bytesRead: 500 };
    end = watchPace(body, connection);
  });
  afterEach(() => {
    end();
    jest.useRealTimers();
  });

  it('is kept by a client that sends enough, and cut once it sends too little', () => {
    for (const bytes of [ENOUGH, ENOUGH]) {
      connection.bytesRead += bytes;
      jest.advanceTimersByTime(LOOK_MS);
      expect(body.destroyed).toBe(false);
    }
    connection.bytesRead += ENOUGH - 1;
    jest.advanceTimersByTime(LOOK_MS);
    expect(body.destroyed).toBe(true);
  });

  it('is looked at where an iterator reads the body, too', async () => {
    const slow = new PassThrough();
    const endOther = watchPace(slow, connection);
    const reading = slow.iterator({ destroyOnReturn: false }).next();
    // The iterator listens by now.
    await Promise.resolve();
    jest.advanceTimersByTime(LOOK_MS);
    endOther();
    expect(slow.destroyed).toBe(true);
    await expect(reading).rejects.toThrow('Premature close');
  });

  it('is no fault of a client whose bytes are yet to be read here', () => {
    body.pause();
    body.write('waiting');
    jest.advanceTimersByTime(3 * LOOK_MS);
    expect(body.destroyed).toBe(false);
  });

  it('is not looked at any more after its end', () => {
    end();
    jest.advanceTimersByTime(3 * LOOK_MS);
    expect(body.destroyed).toBe(false);
  });
});
