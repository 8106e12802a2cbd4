import { jest } from '@jest/globals';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { Metrics } from '#libs/service';
import { type PacedReader, PacedSocket, ReaderPace } from './reader-pace.js';

const WINDOW_MS = 30_000;
const LOOK_MS = WINDOW_MS / 6;
const RATE = 1_000;

/** Reader whose pending and taken bytes the test sets. */
class Reader implements PacedReader {
  pending = true;
  taken = 0;
  isCut = false;
  hasPending = (): boolean => this.pending;
  bytesTaken = (): number => this.taken;
  cutReader = (): void => void (this.isCut = true);
}

describe('ReaderPace', () => {
  let pace: ReaderPace;
  let reader: Reader;

  beforeEach(() => {
    jest.useFakeTimers();
    pace = new ReaderPace(new Metrics(), { bytesPerSecond: RATE, windowMs: WINDOW_MS });
    reader = new Reader();
    pace.watchReader(reader);
  });

  afterEach(() => {
    pace.onModuleDestroy();
    jest.useRealTimers();
  });

  /** Advances the clock while the reader takes `bytesPerSecond`. */
  function pass(ms: number, bytesPerSecond: number): void {
    for (let passed = 0; passed < ms; passed += 1_000) {
      reader.taken += bytesPerSecond;
      jest.advanceTimersByTime(1_000);
    }
  }

  it.each([0, 1, RATE / 2])('cuts a reader that takes %d bytes a second, after a window and not before', (rate) => {
    pass(WINDOW_MS - 1_000, rate);
    expect(reader.isCut).toBe(false);
    pass(LOOK_MS + 1_000, rate);
    expect(reader.isCut).toBe(true);
  });

  it('leaves a slow reader that is steady its answer', () => {
    pass(20 * WINDOW_MS, RATE);
    expect(reader.isCut).toBe(false);
  });

  it('cuts a reader that stops, however much it took before', () => {
    pass(2 * WINDOW_MS, 1_000 * RATE);
    pass(WINDOW_MS + 2 * LOOK_MS, 0);
    expect(reader.isCut).toBe(true);
  });

  it('never cuts a reader for which nothing waits, nor one that left', () => {
    reader.pending = false;
    const gone = new Reader();
    pace.watchReader(gone)();
    pass(20 * WINDOW_MS, 0);
    expect([reader.isCut, gone.isCut]).toEqual([false, false]);
  });

  it('begins anew once a reader has taken all there was', () => {
    pass(WINDOW_MS - LOOK_MS, 0);
    reader.pending = false;
    pass(LOOK_MS, 0);
    reader.pending = true;
    pass(WINDOW_MS - LOOK_MS, 0);
    expect(reader.isCut).toBe(false);
  });
});

describe('PacedSocket', () => {
  const BYTES = 32 * 1024 * 1024;
  let server: Server;
  let client: Socket;
  let socket: Socket;

  beforeEach(async () => {
    server = createServer();
    await once(server.listen(0, '127.0.0.1'), 'listening');
    client = connect((server.address() as AddressInfo).port, '127.0.0.1').pause();
    client.on('error', () => undefined);
    [socket] = (await once(server, 'connection')) as [Socket];
  });

  afterEach(() => {
    client.destroy();
    socket.destroy();
    server.close();
  });

  it('counts what has left the process of a single write, while it goes', async () => {
    const paced = new PacedSocket(socket);
    const written = new Promise((resolve) => socket.write('x'.repeat(BYTES), resolve));
    await new Promise((resolve) => setImmediate(resolve));
    const first = paced.bytesTaken();
    expect([paced.hasPending(), first < BYTES]).toEqual([true, true]);
    let read = 0;
    client.on('data', (chunk: Buffer) => (read += chunk.length)).resume();
    await written;
    expect([paced.hasPending(), paced.bytesTaken(), read > 0]).toEqual([false, BYTES, true]);
  });

  it('cuts a connection with all that waits in it', async () => {
    socket.write('x'.repeat(BYTES));
    const closed = [socket, client].map((it) => new Promise((resolve) => it.once('close', resolve)));
    new PacedSocket(socket).cutReader();
    client.resume();
    await Promise.all(closed);
    expect(client.bytesRead).toBeLessThan(BYTES);
  });
});
