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
  /** Returns replicas of both services whose cards name no gRPC, for clients that refuse such cards. */
  withoutGrpc(): Promise<Pick<PeerStage, 'parley' | 'guarded'>>;
  /** Returns the path of a file that does not exist yet, and the function that writes it. */
  release(): { path: string; write(): void };
  /** Registers something to end after the tests of the suite, in reverse order. */
  defer(end: () => unknown): void;
}

interface PeerServices extends Pick<PeerStage, 'parley' | 'api' | 'database' | 'guarded' | 'caller' | 'withoutGrpc'> {
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
    const { folder, ...started } = await (services ??= startServices());
    const release = (): { path: string; write(): void } => {
      const path = join(folder, `release-${(releases += 1)}`);
      return { path, write: () => writeFileSync(path, '') };
    };
    Object.assign(stage, { ...started, release });
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
  const start = async (databaseUrl: string, env: Record<string, string> = {}): Promise<Parley> => {
    const parley = await startParley({ databaseUrl, env: { ...(await placeEnv()), ...env } });
    ends.push(() => parley.stop());
    return parley;
  };
  const parley = await start(postgres.url);
  const guarded = await start(guardedUrl, apiKeyEnv(caller));
  const startWithoutGrpc = async (): Promise<Pick<PeerStage, 'parley' | 'guarded'>> => ({
    parley: await start(postgres.url, WITHOUT_GRPC),
    guarded: await start(guardedUrl, { ...WITHOUT_GRPC, ...apiKeyEnv(caller) }),
  });
  let replicas: ReturnType<typeof startWithoutGrpc> | undefined;
  const withoutGrpc = (): ReturnType<typeof startWithoutGrpc> => (replicas ??= startWithoutGrpc());
  return { folder, parley, api: new Api(parley.url), database, guarded, caller, withoutGrpc };
}

/** Settings with which cards name no gRPC. */
const WITHOUT_GRPC = { GRPC_PUBLIC_URL: 'none' };

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
