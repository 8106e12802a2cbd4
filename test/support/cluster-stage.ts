import { FakeAgent, type FakeAgentOptions } from './fake-agent.js';
import type { Parley } from './parley.js';
import { freshDatabase, type TestDatabase } from './postgres.js';
import { type ClusterOptions, ReplicaCluster } from './replica-cluster.js';
import { Api } from './workflow.js';

/** Replicas on a separate database for the tests of one file, and the fake agents that these tests start. */
export interface ClusterStage {
  database: TestDatabase;
  cluster: ReplicaCluster;
  /** The management API through the balancer. */
  api: Api;
  /** Returns the management API of one replica, by index from 0. */
  at(index: number): Api;
  replica(index: number): Parley;
  fake(options?: FakeAgentOptions): Promise<FakeAgent>;
}

/** Starts a cluster before all tests of a file, and ends it after them. */
export function useCluster(options: ClusterOptions): ClusterStage {
  const fakes: FakeAgent[] = [];
  const stage = {
    at: (index: number) => new Api(stage.replica(index).url),
    replica: (index: number) => {
      const replica = stage.cluster.replicas[index];
      if (replica === undefined) throw new Error(`There is no replica ${index}`);
      return replica;
    },
    fake: async (fakeOptions?: FakeAgentOptions) => {
      const agent = await FakeAgent.start(fakeOptions);
      fakes.push(agent);
      return agent;
    },
  } as ClusterStage;
  beforeAll(async () => {
    stage.database = await freshDatabase();
    stage.cluster = await ReplicaCluster.start(stage.database, options);
    stage.api = new Api(stage.cluster.balancer.url);
  });
  afterAll(async () => {
    for (const fake of fakes) await fake.stop();
    await stage.cluster?.stop();
    await stage.database?.drop();
  });
  return stage;
}
