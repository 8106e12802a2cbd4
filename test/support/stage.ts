import { FakeAgent, type FakeAgentOptions } from './fake-agent.js';
import { type Parley, type ParleyOptions, startParley } from './parley.js';
import { freshDatabase, type TestDatabase } from './postgres.js';
import { Api } from './workflow.js';

/** Service on a separate database for one test file, with the fake agents that its tests start. */
export interface Stage {
  parley: Parley;
  database: TestDatabase;
  api: Api;
  /** Starts a fake agent, which ends with the stage. */
  fake(options?: FakeAgentOptions): Promise<FakeAgent>;
  /** Registers a function that is called before the service ends. */
  defer(end: () => unknown): void;
}

/** Starts a service before all tests of a file, and ends it after them. */
export function useStage(options: Omit<ParleyOptions, 'databaseUrl'> = {}): Stage {
  const ends: (() => unknown)[] = [];
  const stage = {
    fake: async (fakeOptions?: FakeAgentOptions) => {
      const agent = await FakeAgent.start(fakeOptions);
      ends.push(() => agent.stop());
      return agent;
    },
    defer: (end: () => unknown) => void ends.push(end),
  } as Stage;
  beforeAll(async () => {
    stage.database = await freshDatabase();
    stage.parley = await startParley({ ...options, databaseUrl: stage.database.url });
    stage.api = new Api(stage.parley.url);
  });
  afterAll(async () => {
    for (const end of ends.reverse()) await end();
    await stage.parley?.stop();
    await stage.database?.drop();
  });
  return stage;
}
