import { FakeAgent, type FakeAgentOptions } from './fake-agent.js';
import type { Parley } from './parley.js';
import type { Stage } from './stage.js';
import { Api } from './workflow.js';

/** What a test file works with that needs no service of its own. */
export type SharedStage = Pick<Stage, 'api' | 'fake' | 'defer'> & { parley: Pick<Parley, 'url'> };

/** A service that nobody else uses until it is given back. */
export interface Lent {
  lease: string;
  url: string;
  pid: number;
}

/** Why a service that was given back is not lent again, with what it wrote meanwhile; empty where it is well. */
export interface TakenBack {
  unwell?: string;
}

/**
 * Lends a file a service with the usual environment, which other files use before and after it, never at the same time.
 * A file takes unique names, and looks at nothing that others leave: counts and lists of everything, logs. Nor does it
 * stop, freeze or overload the service: a file that leaves it unwell fails, and the next one gets another.
 */
export function useSharedStage(): SharedStage {
  const ends: (() => unknown)[] = [];
  const stage = {
    fake: async (fakeOptions?: FakeAgentOptions) => {
      const agent = await FakeAgent.start(fakeOptions);
      ends.push(() => agent.stop());
      return agent;
    },
    defer: (end: () => unknown) => void ends.push(end),
  } as SharedStage;
  let lease: string | undefined;
  beforeAll(async () => {
    const { url, ...lent } = await lend();
    lease = lent.lease;
    stage.parley = { url };
    stage.api = new Api(url);
  });
  afterAll(async () => {
    for (const end of ends.reverse()) await end();
    if (lease === undefined) return;
    const { unwell } = await giveBack(lease);
    if (unwell !== undefined) throw new Error(`This file left the shared service unwell. ${unwell}`);
  });
  return stage;
}

export function lend(lender = process.env.PARLEY_TEST_SERVICES): Promise<Lent> {
  return ask(lender, 'POST');
}

export function giveBack(lease: string, lender = process.env.PARLEY_TEST_SERVICES): Promise<TakenBack> {
  return ask(lender, 'DELETE', lease);
}

async function ask<T>(lender: string | undefined, method: string, lease = ''): Promise<T> {
  if (lender === undefined) throw new Error('The service is not built: run npm run build first');
  const response = await fetch(`${lender}${lease}`, { method });
  if (!response.ok) throw new Error(`No shared service: ${await response.text()}`);
  return (await response.json()) as T;
}
