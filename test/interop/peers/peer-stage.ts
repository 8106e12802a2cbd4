import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { apiKeyEnv, type TestCaller, testCaller } from '../../support/callers.js';
import { OwnPostgres } from '../../support/own-postgres.js';
import { freePort, type Parley, startParley } from '../../support/parley.js';
import { openDatabase } from '../../support/postgres.js';
import { Api } from '../../support/workflow.js';
import { startTokenIssuer, type TokenIssuer } from '../../support/token-issuer.js';
import { PeerTls } from './peer-tls.js';

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
  /** Replaces both services by replicas behind TLS. @returns the environment in which peers speak TLS with them */
  speakTls(): Promise<Record<string, string>>;
  /** Returns a service on a database of its own that accepts the tokens of a provider. */
  withTokens(): Promise<{ parley: Parley; issuer: TokenIssuer }>;
  /** Returns the path of a file that does not exist yet, and the function that writes it. */
  release(): { path: string; write(): void };
  /** Registers something to end after the tests of the suite, in reverse order. */
  defer(end: () => unknown): void;
}

interface PeerServices extends Pick<
  PeerStage,
  'parley' | 'api' | 'database' | 'guarded' | 'caller' | 'withoutGrpc' | 'withTokens'
> {
  folder: string;
  /** Returns replicas of both services behind TLS. */
  withTls(): Promise<TlsServices>;
  stop(): Promise<void>;
}

interface TlsServices extends Pick<PeerStage, 'parley' | 'guarded' | 'api'> {
  /** Environment in which peers speak TLS. */
  env: Record<string, string>;
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
    const { folder, withTls, ...started } = await (services ??= startServices());
    const release = (): { path: string; write(): void } => {
      const path = join(folder, `release-${(releases += 1)}`);
      return { path, write: () => writeFileSync(path, '') };
    };
    const speakTls = async (): Promise<Record<string, string>> => {
      const { env, ...replicas } = await withTls();
      Object.assign(stage, replicas);
      return env;
    };
    Object.assign(stage, { ...started, release, speakTls });
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

/** Starts a replica of a service, and ends it with the stage. */
type StartReplica = (databaseUrl: string, env?: Record<string, string>) => Promise<Parley>;

/** Settings that replicas of both services need. */
interface ReplicaPlace {
  start: StartReplica;
  postgresUrl: string;
  guardedUrl: string;
  caller: TestCaller;
}

async function startInOrder(ends: (() => unknown)[]): Promise<Omit<PeerServices, 'stop'>> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-peers-'));
  ends.push(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  const postgres = await OwnPostgres.start();
  ends.push(() => postgres.stop());
  const database = openDatabase(postgres.url);
  ends.push(() => database.end());
  for (const name of ['guarded', 'tokens']) await database.query(`CREATE DATABASE ${name}`);
  // All replicas trust the authority, since each may resume the Tasks of the others.
  const tls = new PeerTls(folder);
  const start: StartReplica = async (databaseUrl, env = {}) => {
    const parley = await startParley({ databaseUrl, env: { ...(await placeEnv()), ...tls.serviceEnv, ...env } });
    ends.push(() => parley.stop());
    return parley;
  };
  const urlOf = (name: string): string => Object.assign(new URL(postgres.url), { pathname: `/${name}` }).href;
  const place = { start, postgresUrl: postgres.url, guardedUrl: urlOf('guarded'), caller: testCaller('ann') };
  const { parley, guarded } = await startBoth(place);
  let replicas: ReturnType<typeof startBoth> | undefined;
  let overTls: Promise<TlsServices> | undefined;
  let tokens: ReturnType<PeerStage['withTokens']> | undefined;
  return {
    folder,
    ...{ parley, guarded, database, api: new Api(parley.url), caller: place.caller },
    withoutGrpc: () => (replicas ??= startBoth(place, WITHOUT_GRPC)),
    withTokens: () => (tokens ??= startWithTokens(start, urlOf('tokens'), ends)),
    withTls: () => (overTls ??= startBehindTls(place, tls, ends)),
  };
}

async function startBoth(
  { start, postgresUrl, guardedUrl, caller }: ReplicaPlace,
  env: Record<string, string> = {},
): Promise<Pick<PeerStage, 'parley' | 'guarded'>> {
  return {
    parley: await start(postgresUrl, env),
    guarded: await start(guardedUrl, { ...env, ...apiKeyEnv(caller) }),
  };
}

async function startWithTokens(
  start: StartReplica,
  databaseUrl: string,
  ends: (() => unknown)[],
): ReturnType<PeerStage['withTokens']> {
  const issuer = await startTokenIssuer();
  ends.push(() => issuer.stop());
  return { issuer, parley: await start(databaseUrl, issuer.env) };
}

async function startBehindTls(place: ReplicaPlace, tls: PeerTls, ends: (() => unknown)[]): Promise<TlsServices> {
  const start: StartReplica = async (databaseUrl, env = {}) => {
    const own = await placeEnv();
    const front = await tls.startFront(own['PORT']!);
    ends.push(() => front.stop());
    const parley = await place.start(databaseUrl, { ...own, PUBLIC_URL: front.url, ...env });
    return { ...parley, url: front.url };
  };
  const { parley, guarded } = await startBoth({ ...place, start });
  return { parley, guarded, api: new Api(parley.url), env: tls.peerEnv };
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
