import { hasFailedTests } from './failed-tests.js';
import { FakeAgent, type FakeAgentOptions } from './fake-agent.js';
import type { Parley } from './parley.js';
import { openDatabase, type TestDatabase } from './postgres.js';
import type { Stage } from './stage.js';
import { Api } from './workflow.js';

/** Members of a Stage that a test file uses without owning the service. */
export type SharedStage = Pick<Stage, 'api' | 'fake' | 'defer'> & {
  parley: Pick<Parley, 'url'>;
  /** Database of the service. Rows of other files, and changes of those, are not counted. */
  database: Pick<TestDatabase, 'query' | 'url' | 'counts'>;
  /** Returns the output of the service since it was lent. */
  written(): Promise<string>;
};

export interface SharedOptions {
  /** Additional environment. Files with equal environments share services. */
  env?: Record<string, string>;
}

/** Service that one test file uses alone until it gives the service back. */
export interface Lent {
  lease: string;
  url: string;
  pid: number;
  databaseUrl: string;
}

/** Result of giving a service back. */
export interface TakenBack {
  /** Reason why the service is not lent again; absent if it is healthy. */
  unwell?: string;
  /** Output of the service while it was lent. */
  written: string;
}

/**
 * Lends a test file a service with its database. Other files use the service before and after, never at the same time.
 * A file uses unique names, and does not look at data of other files, such as lists of everything. It does not stop,
 * suspend or overload the service: a file that leaves the service unhealthy fails, and the next file gets another one.
 */
export function useSharedStage(options: SharedOptions = {}): SharedStage {
  const ends: (() => unknown)[] = [];
  const stage = {
    fake: async (fakeOptions?: FakeAgentOptions) => {
      const agent = await FakeAgent.start(fakeOptions);
      ends.push(() => agent.stop());
      return agent;
    },
    defer: (end: () => unknown) => void ends.push(end),
    written: () => written(lease ?? ''),
  } as SharedStage;
  let lease: string | undefined;
  beforeAll(async () => {
    const { url, databaseUrl, ...lent } = await lend(options);
    lease = lent.lease;
    stage.parley = { url };
    const database = openDatabase(databaseUrl);
    stage.database = { query: database.query, url: databaseUrl, counts: await counting(database.query) };
    ends.unshift(database.end);
    stage.api = new Api(url);
  });
  afterAll(async () => {
    for (const end of ends.reverse()) await end();
    if (lease === undefined) return;
    const { unwell, written: said } = await giveBack(lease);
    if (unwell !== undefined) throw new Error(`This file left the shared service unwell. ${unwell}\n${said}`);
    // Beside the failures themselves, where they are read.
    if (hasFailedTests() && said !== '') throw new Error(`The shared service wrote meanwhile:\n${said}`);
  });
  return stage;
}

/** Creates a function that counts the rows of what begins from now on. */
async function counting(query: TestDatabase['query']): Promise<TestDatabase['counts']> {
  const [row] = await query<{ lent: string }>('SELECT now()::text AS lent');
  return async () => (await query<Record<string, number>>(COUNTS, [row?.lent]))[0] ?? {};
}

const COUNTS = `
  WITH begun AS (
    SELECT task_id FROM task WHERE created_at >= $1 AND NOT EXISTS (
      SELECT FROM task earlier WHERE earlier.context_id = task.context_id AND earlier.created_at < $1))
  SELECT (SELECT count(*)::int FROM begun) AS task,
         (SELECT count(*)::int FROM task_event WHERE task_id IN (SELECT task_id FROM begun)) AS task_event,
         (SELECT count(*)::int FROM workflow) AS workflow`;

export function lend(options: SharedOptions = {}, lender = process.env.PARLEY_TEST_SERVICES): Promise<Lent> {
  return ask(lender, 'POST', '', JSON.stringify(options));
}

/** Returns the output of a lent service since it was lent. */
function written(lease: string, lender = process.env.PARLEY_TEST_SERVICES): Promise<string> {
  return ask(lender, 'GET', lease);
}

export function giveBack(lease: string, lender = process.env.PARLEY_TEST_SERVICES): Promise<TakenBack> {
  return ask(lender, 'DELETE', lease);
}

async function ask<T>(lender: string | undefined, method: string, lease: string, body?: string): Promise<T> {
  if (lender === undefined) throw new Error('The service is not built: run npm run build first');
  const response = await fetch(`${lender}${lease}`, { method, ...(body !== undefined && { body }) });
  if (!response.ok) throw new Error(`No shared service: ${await response.text()}`);
  return (await response.json()) as T;
}
