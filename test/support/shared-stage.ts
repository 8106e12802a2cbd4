import { hasFailedTests } from './failed-tests.js';
import { FakeAgent, type FakeAgentOptions } from './fake-agent.js';
import type { Parley } from './parley.js';
import { openDatabase, type TestDatabase } from './postgres.js';
import type { Stage } from './stage.js';
import { Api } from './workflow.js';

/** What a test file works with that needs no service of its own. */
export type SharedStage = Pick<Stage, 'api' | 'fake' | 'defer'> & {
  parley: Pick<Parley, 'url'>;
  /** Other files' rows are in it as well; they do not count, nor what goes on of them. */
  database: Pick<TestDatabase, 'query' | 'url' | 'counts'>;
  /** What the service wrote since it was lent. */
  written(): Promise<string>;
};

export interface SharedOptions {
  /** Beyond the usual environment; files that say the same share services. */
  env?: Record<string, string>;
}

/** A service that nobody else uses until it is given back. */
export interface Lent {
  lease: string;
  url: string;
  pid: number;
  databaseUrl: string;
}

/** A service that was given back. */
export interface TakenBack {
  /** Why it is not lent again; absent where it is well. */
  unwell?: string;
  /** What it wrote meanwhile. */
  written: string;
}

/**
 * Lends a file a service with its database, which other files use before and after it, never at the same time.
 * A file takes unique names, and looks at nothing that others leave, such as lists of everything. Nor does it stop, freeze
 * or overload the service: a file that leaves it unwell fails, and the next one gets another.
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

/** Counts the rows of what begins from now on. */
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

/** What a service that is lent wrote since then. */
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
