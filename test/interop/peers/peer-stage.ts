import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { apiKeyEnv, type TestCaller, testCaller } from '../../support/callers.js';
import { OwnPostgres } from '../../support/own-postgres.js';
import { freePort, type Parley, startParley } from '../../support/parley.js';
import { openDatabase } from '../../support/postgres.js';
import { Api } from '../../support/workflow.js';

type Database = ReturnType<typeof openDatabase>;

/** Two services on databases of one server: `parley` lets everybody in, `guarded` only callers with a key. */
export interface PeerStage {
  parley: Parley;
  api: Api;
  database: Database;
  guarded: Parley;
  caller: TestCaller;
  /** Returns the path of a file that does not exist yet, and the function that writes it. */
  release(): { path: string; write(): void };
  /** Registers something to end after the tests of the suite, in reverse order. */
  defer(end: () => unknown): void;
}

interface PeerServices extends Pick<PeerStage, 'parley' | 'api' | 'database' | 'guarded' | 'caller'> {
  folder: string;
  stop(): Promise<void>;
}

let services: Promise<PeerServices> | undefined;
/** Number of suites that have not ended. */
let suites = 0;
let releases = 0;

/** Provides the services to a suite. They are started once for all suites, and stop after the last one. */
export function usePeerStage(): PeerStage {
  const ends: (() => unknown)[] = [];
  suites += 1;
  const stage = { defer: (end: () => unknown) => void ends.push(end) } as PeerStage;
  before(async () => {
    const { folder, parley, api, database, guarded, caller } = await (services ??= startServices());
    const release = (): { path: string; write(): void } => {
      const path = join(folder, `release-${(releases += 1)}`);
      return { path, write: () => writeFileSync(path, '') };
    };
    Object.assign(stage, { parley, api, database, guarded, caller, release });
  });
  after(async () => {
    for (const end of ends.reverse()) await end();
    suites -= 1;
    if (suites === 0) await (await services?.catch(() => undefined))?.stop();
  });
  return stage;
}

async function startServices(): Promise<PeerServices> {
  const ends: (() => unknown)[] = [];
  const stop = async (): Promise<void> => {
    for (const end of ends.splice(0).reverse()) await end();
  };
  try {
    return { ...(await startInOrder(ends)), stop };
  } catch (error) {
    // A database that stays would keep this process from ending.
    await stop();
    throw error;
  }
}

async function startInOrder(ends: (() => unknown)[]): Promise<Omit<PeerServices, 'stop'>> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-peers-'));
  ends.push(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  const postgres = await OwnPostgres.start();
  ends.push(() => postgres.stop());
  const database = openDatabase(postgres.url);
  ends.push(() => database.end());
  await database.query('CREATE DATABASE guarded');
  const caller = testCaller('ann');
  const guardedUrl = Object.assign(new URL(postgres.url), { pathname: '/guarded' }).href;
  const parley = await startParley({ databaseUrl: postgres.url, env: await placeEnv() });
  ends.push(() => parley.stop());
  const guarded = await startParley({ databaseUrl: guardedUrl, env: { ...(await placeEnv()), ...apiKeyEnv(caller) } });
  ends.push(() => guarded.stop());
  return { folder, parley, api: new Api(parley.url), database, guarded, caller };
}

/** Returns ports for a service, and the addresses at which peers reach it. */
async function placeEnv(): Promise<Record<string, string>> {
  const [port, grpcPort] = [await freePort(), await freePort()];
  return {
    PORT: `${port}`,
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    GRPC_PORT: `${grpcPort}`,
    GRPC_PUBLIC_URL: `*.a2a.localhost:${grpcPort}`,
  };
}
