import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseLink } from '../support/database-link.js';
import { onLinux } from '../support/on-linux.js';
import { freshDataDir, postmasters, startParley, startRefused } from '../support/parley.js';
import { freshDatabase } from '../support/postgres.js';
import { until } from '../support/until.js';

const WITHIN = 180_000;

describe('a start that fails', () => {
  const data = freshDataDir();
  let taken: Server;
  let port: string;

  beforeAll(async () => {
    taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    port = String((taken.address() as AddressInfo).port);
  });

  afterAll(async () => {
    taken?.close();
    await data.remove();
  });

  it.each([
    ['because its port is taken', () => ({ PORT: port }), 'EADDRINUSE'],
    ['because the port of gRPC is taken', () => ({ GRPC_PORT: port }), 'GRPC_PORT'],
    ['because nobody could call it', () => ({ AUTH_MODE: 'api-key' }), 'AUTH_API_KEYS'],
    ['because a plugin is not there', () => ({ PARLEY_PLUGINS: join(data.path, 'none.mjs') }), 'PARLEY_PLUGINS'],
  ])('%s says so and stops the embedded database', async (_why, env, reason) => {
    const { code, logs } = await startRefused({ dataDir: data.path, env: env(), within: WITHIN });
    expect(logs).toContain(reason);
    expect(code).toBe(1);
    await until(() => postmasters(data.path).length === 0, { what: 'the embedded database to stop' });
  });

  onLinux('because nobody can make its data directory says so', async () => {
    const { code, logs } = await startRefused({ dataDir: '/proc/parley/data', within: WITHIN });
    expect({ code, logs }).toEqual({ code: 1, logs: expect.stringContaining("mkdir '/proc/parley'") });
  });

  it('because its database goes away meanwhile says so', async () => {
    const database = await freshDatabase();
    const link = await DatabaseLink.to(database.url);
    try {
      // It waits for nothing but this then.
      link.breakBefore('parley_probe_');
      const { code, logs } = await startRefused({ databaseUrl: link.url, within: WITHIN });
      expect(logs).toBe('Parley could not start: the database has ended the connection\n');
      expect(code).toBe(1);
    } finally {
      await link.stop();
      await database.drop();
    }
  });

  it('because its database goes away once it counts as a replica says so', async () => {
    const database = await freshDatabase();
    const link = await DatabaseLink.to(database.url);
    try {
      // The last that it has to say; meanwhile it looks for the session that it counts by.
      link.cutOn('push.seal-secrets');
      const { code, logs } = await startRefused({ databaseUrl: link.url, within: WITHIN });
      expect(logs).toMatch(/Parley could not start: (Connection terminated unexpectedly|read ECONNRESET|write EPIPE)/);
      expect(code).toBe(1);
    } finally {
      await link.stop();
      await database.drop();
    }
  });

  it('because it is told to stop ends with 0, and not before what it has begun can be ended', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const reached = once(silent, 'connection');
    const databaseUrl = `postgres://nobody@127.0.0.1:${(silent.address() as AddressInfo).port}/nothing`;
    const { code, logs } = await startRefused({ databaseUrl, within: WITHIN }, reached);
    expect({ code, logs }).toEqual({ code: 0, logs: '' });
    const [socket] = (await reached) as [Socket];
    socket.destroy();
    silent.close();
  });

  it('because it is told to stop does not wait for the embedded database longer than it may, and stops it', async () => {
    const own = freshDataDir();
    try {
      const starting = until(() => postmasters(own.path).length > 0, { what: 'the embedded database to start' });
      const options = { dataDir: own.path, env: { SHUTDOWN_GRACE: '0' }, within: WITHIN };
      const { code, logs } = await startRefused(options, starting);
      expect({ code, logs }).toEqual({ code: 0, logs: '' });
      await until(() => postmasters(own.path).length === 0, { what: 'the embedded database to stop' });
    } finally {
      await own.remove();
    }
  });

  it('leaves the embedded database to another process that uses it', async () => {
    const other = await startParley({ dataDir: data.path });
    try {
      const before = postmasters(data.path);
      expect(before).toHaveLength(1);
      const { code } = await startRefused({ dataDir: data.path, env: { PORT: port }, within: WITHIN });
      expect(code).toBe(1);
      expect(postmasters(data.path)).toEqual(before);
      await until(async () => (await fetch(`${other.url}/health/ready`)).ok, { what: 'the other process to be ready' });
    } finally {
      await other.stop();
    }
  });
});
