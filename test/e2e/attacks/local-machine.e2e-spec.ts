import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describeAsRootOnLinux } from '../../support/as-root-on-linux.js';
import { describeOnLinux } from '../../support/on-linux.js';
import { OtherAccount } from '../../support/other-account.js';
import { freshDataDir, type Parley, startParley } from '../../support/parley.js';
import { type Postmaster, postmasterIn } from '../../support/postmaster.js';
import { untilReady } from '../../support/until-ready.js';

const STRANGER = new OtherAccount(60_001, 60_001);

/** Tries to read each of the given paths; gives those that could be. */
const READ = `
import { readFileSync, readdirSync } from 'node:fs';
const readable = given.filter((path) => {
  for (const read of [readFileSync, readdirSync]) {
    try { read(path); return true; } catch {}
  }
  return false;
});
console.log(JSON.stringify(readable));`;

/** Tries to connect to the given socket or port; gives what came of it. */
const CONNECT = `
import { connect } from 'node:net';
const socket = connect(given);
socket.once('connect', () => { console.log(JSON.stringify('connected')); socket.destroy(); });
socket.once('error', (error) => console.log(JSON.stringify(error.code)));`;

/** Holds a reader's lock on the file of the start, where it may. */
const HOLD_LOCK = `
import { DatabaseSync } from 'node:sqlite';
let lock;
try {
  lock = new DatabaseSync(given, { readOnly: true });
  lock.exec('BEGIN; SELECT count(*) FROM sqlite_schema');
  console.log('held');
} catch (error) {
  console.log('refused');
}
setInterval(() => lock, 1_000);`;

describeOnLinux('other users of the machine and the embedded database (the parts that /proc shows need Linux)', () => {
  const data = freshDataDir();
  let parley: Parley;
  let postmaster: Postmaster;

  beforeAll(async () => {
    parley = await startParley({ dataDir: data.path });
    postmaster = postmasterIn(data.path);
  });

  afterAll(async () => {
    STRANGER.end();
    await parley?.stop();
    await data.remove();
  });

  it('finds no port that could be connected to, or taken once the server is dead', () => {
    expect(postmaster.ports).toEqual([]);
    expect(postmaster.sockets).toHaveLength(1);
  });

  it('keeps every file from other users', () => {
    const open = ours(data.path)
      .filter((path) => !isProgram(path))
      .map((path) => ({ path, mode: statSync(path).mode & 0o077 }))
      .filter(({ path, mode }) => (statSync(path).isDirectory() ? (mode & 0o066) !== 0 : mode !== 0))
      .map(({ path, mode }) => `${path} ${mode.toString(8)}`);
    expect(open).toEqual([]);
  });

  it('says the password in no process list and no log', () => {
    const password = readFileSync(join(data.path, 'postgres', 'password'), 'utf8').trim();
    expect(password.length).toBeGreaterThan(20);
    const places = ['cmdline', 'environ'].flatMap((file) => processes().map((pid) => `/proc/${pid}/${file}`));
    const told = places.filter((path) => contents(path).includes(password));
    expect(told).toEqual([]);
    expect(readFileSync(join(data.path, 'postgres', 'server.log'), 'utf8')).not.toContain(password);
    expect(parley.logs()).not.toContain(password);
  });

  it('starts while somebody reads the file that locks the start', async () => {
    await parley.stop();
    const reader = new DatabaseSync(join(data.path, 'postgres', 'lock.sqlite'), { readOnly: true });
    try {
      reader.exec('BEGIN; SELECT count(*) FROM sqlite_schema');
      parley = await startParley({ dataDir: data.path });
    } finally {
      reader.close();
    }
    expect(await untilReady(parley)).toMatchObject({ status: 'ok' });
    postmaster = postmasterIn(data.path);
  });

  describeAsRootOnLinux('as another user (to become one needs root)', () => {
    it('a stranger reads none of the files', async () => {
      expect(
        await STRANGER.run(
          READ,
          ours(data.path).filter((path) => !isProgram(path)),
        ),
      ).toEqual([]);
    });

    it('a stranger does not get through to the server', async () => {
      expect(await STRANGER.run(CONNECT, reachedBy(postmaster))).toBe('EACCES');
    });

    it('the account that PostgreSQL runs as is shared: its other processes reach nothing either', async () => {
      const sharer = new OtherAccount(postmaster.uid, ordinaryGroup(postmaster.uid));
      const inside = ['environ', 'mem', 'cwd', 'root', ...postmaster.files.map((fd) => `fd/${fd}`)];
      const kept = [
        ...ours(data.path).filter((path) => !isProgram(path)),
        ...inside.map((it) => `/proc/${postmaster.pid}/${it}`),
      ];
      expect(await sharer.run(READ, kept)).toEqual([]);
      expect(await sharer.run(CONNECT, reachedBy(postmaster))).toBe('EACCES');
    });

    it('a stranger cannot hold up the start through its lock', async () => {
      await parley.stop();
      expect(await STRANGER.begin(HOLD_LOCK, join(data.path, 'postgres', 'lock.sqlite'))).toBe('refused');
      parley = await startParley({ dataDir: data.path });
    });
  });
});

/** The data directory and everything in it, but PostgreSQL's own files: nobody passes the folder that holds them. */
function ours(dataDir: string): string[] {
  const home = join(dataDir, 'postgres');
  const cluster = readdirSync(join(home, 'cluster')).map((name) => join(home, 'cluster', name));
  return [home, ...readdirSync(home).map((name) => join(home, name)), ...cluster];
}

/** Copies of PostgreSQL's programs, which anybody may have. */
function isProgram(path: string): boolean {
  return /\/(linux|darwin)-(x64|arm64)-/.test(path);
}

function reachedBy({ sockets, ports }: Postmaster): object {
  return sockets[0] === undefined ? { host: '127.0.0.1', port: ports[0] } : { path: sockets[0] };
}

function ordinaryGroup(uid: number): number {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((it) => it.split(':')[2] === String(uid));
  return Number(line?.split(':')[3]);
}

function processes(): string[] {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
}

/** Empty for a process that has ended since, and for one whose file is not ours to read. */
function contents(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
