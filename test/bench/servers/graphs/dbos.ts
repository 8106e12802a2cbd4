// DBOS: one durable workflow, every node a step of it.
import { DBOS } from '@dbos-inc/dbos-sdk';
import { WIDTH } from './shape.ts';
import { serveRuns } from './serve-runs.ts';

const POOL_SIZE = 20;
const node = async (): Promise<number> => 1;

async function chain(): Promise<void> {
  for (let index = 0; index < WIDTH; index += 1) await DBOS.runStep(node, { name: `n${index}` });
}

async function fan(): Promise<void> {
  await DBOS.runStep(node, { name: 'first' });
  await Promise.all(Array.from({ length: WIDTH }, (_, index) => DBOS.runStep(node, { name: `n${index}` })));
  await DBOS.runStep(node, { name: 'last' });
}

DBOS.setConfig({
  name: 'bench',
  systemDatabaseUrl: process.env.DATABASE_URL,
  systemDatabasePoolSize: POOL_SIZE,
  logLevel: 'error',
  runAdminServer: false,
});
const runChain = DBOS.registerWorkflow(chain, { name: 'chain' });
const runFan = DBOS.registerWorkflow(fan, { name: 'fan' });
await DBOS.launch();
serveRuns({ chain: () => runChain(), fan: () => runFan() });
