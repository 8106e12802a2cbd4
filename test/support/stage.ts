import { FakeAgent, type FakeAgentOptions } from './fake-agent.js';
import { type Parley, type ParleyOptions, startParley } from './parley.js';
import { freshDatabase, type TestDatabase } from './postgres.js';
import { Api } from './workflow.js';

/** What one test file works with: a service on a database of its own, and the fake agents it started. */
export interface Stage {
  parley: Parley;
  database: TestDatabase;
  api: Api;
  /** Starts a fake agent that ends with the stage. */
  fake(options?: FakeAgentOptions): Promise<FakeAgent>;
  /** Something to end before the service does. */
  defer(end: () => unknown): void;
}

/** Sets a stage up before all tests of a file and strikes it after them. */
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
