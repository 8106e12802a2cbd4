import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import pg from 'pg';
import { describeAsRootOnLinux } from '../support/as-root-on-linux.js';
import { type OneWayLink, OneWayRelay } from '../support/one-way-relay.js';
import { OwnPostgres } from '../support/own-postgres.js';
import { ShiftedClock } from '../support/shifted-clock.js';
import { until } from '../support/until.js';

describe('a link that is cut in one direction', () => {
  let server: Server;
  let relay: OneWayRelay;
  let link: OneWayLink;
  let heard: string;
  let ended: number;

  beforeAll(async () => {
    relay = OneWayRelay.start();
    server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('close', () => (ended += 1));
      socket.on('data', (data: Buffer) => {
        heard += String(data);
        socket.write(`heard ${String(data)}`);
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    link = await relay.linkTo(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  });
  afterAll(async () => {
    await relay.stop();
    server.close();
  });
  beforeEach(() => {
    heard = '';
    ended = 0;
  });

  async function caller(): Promise<{ socket: Socket; answers(): string }> {
    const socket = connect(Number(new URL(link.url).port), '127.0.0.1');
    let answers = '';
    socket.on('data', (data: Buffer) => (answers += String(data)));
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    return { socket, answers: () => answers };
  }

  it('lets a request through and keeps its answer until it is mended', async () => {
    const { socket, answers } = await caller();
    await link.cut('back');
    socket.write('one');
    await until(() => heard === 'one', { what: 'the request to arrive' });
    expect(answers()).toBe('');
    await link.mend();
    await until(() => answers() === 'heard one', { what: 'the answer' });
    socket.destroy();
    await until(() => ended === 1, { what: 'the connection to end' });
  });

  it('keeps a request, and the end of its connection, until it is mended', async () => {
    await link.cut('there');
    const { socket } = await caller();
    socket.end('two');
    const direct = connect((server.address() as AddressInfo).port, '127.0.0.1');
    direct.end('beside');
    await until(() => ended === 1, { what: 'a connection beside it to come and go' });
    expect(heard).toBe('beside');
    await link.mend();
    await until(() => ended === 2, { what: 'the connection to end' });
    expect(heard).toBe('besidetwo');
  });

  it('ends all connections where it is told to', async () => {
    const { socket } = await caller();
    const closed = once(socket, 'close');
    await link.reset();
    await closed;
  });
});

describe('a clock that is off', () => {
  it('steps for the process that has it, whose timers go on', async () => {
    const clock = new ShiftedClock(30_000);
    const program = `process.stdin.on('data', () => console.log(Date.now(), +new Date(), new Date() instanceof Date))`;
    const child = spawn(process.execPath, ['-e', program], {
      env: { ...process.env, ...clock.env },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const lines = createInterface({ input: child.stdout });
    const off = async (): Promise<number> => {
      child.stdin.write('what time is it?\n');
      const [line] = (await once(lines, 'line')) as [string];
      const [now, date, isDate] = line.split(' ');
      expect([Math.abs(Number(now) - Number(date)) < 10_000, isDate]).toEqual([true, 'true']);
      return Number(now) - Date.now();
    };
    try {
      await until(async () => (await off()) > 15_000, { what: 'the clock to be ahead' });
      clock.shift(-30_000);
      await until(async () => (await off()) < -15_000, { what: 'the clock to be behind' });
    } finally {
      child.kill();
      clock.remove();
    }
  });
});

describeAsRootOnLinux('a PostgreSQL whose disk is full', () => {
  it('refuses rows with 53100, ends when its log has no room, and works again when there is some', async () => {
    const postgres = await OwnPostgres.start([], true);
    const run = async (sql: string): Promise<string> => {
      const session = new pg.Client({ connectionString: postgres.url });
      session.on('error', () => undefined);
      try {
        await session.connect();
        await session.query(sql);
        return 'done';
      } catch (error) {
        return (error as { code?: string }).code ?? 'none';
      } finally {
        await session.end().catch(() => undefined);
      }
    };
    const fill = (): Promise<string> =>
      run('INSERT INTO filling SELECT repeat(md5(i::text), 20) FROM generate_series(1, 2000) AS i');
    try {
      expect(await run('CREATE TABLE filling (x text)')).toBe('done');
      await postgres.fillDisk();
      expect(await fill()).toBe('53100');
      await run('SELECT pg_switch_wal()');
      await until(async () => !['done', '53100'].includes(await fill()), { what: 'the server to end' });
      await postgres.freeDisk();
      let answer = 'none';
      await until(async () => (answer = await fill()) === 'done', { what: () => `the server to be back: ${answer}` });
    } finally {
      await postgres.stop();
    }
  });
});
