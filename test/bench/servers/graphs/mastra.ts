// Mastra with its PostgreSQL storage.
import { Mastra } from '@mastra/core/mastra';
import { createStep, createWorkflow } from '@mastra/core/workflows';
import { PostgresStore } from '@mastra/pg';
import { z } from 'zod';
import { graphOf, type Shape } from './shape.ts';
import { serveRuns } from './serve-runs.ts';

const POOL_SIZE = 20;
const ANY = z.any();

type Step = ReturnType<typeof step>;
/**
 * Workflow builder without Mastra's types, which accumulate every step in the workflow's type: here the steps are added
 * in a loop.
 */
interface Builder {
  then(next: Step): Builder;
  parallel(steps: Step[]): Builder;
  commit(): Builder;
  createRun(): Promise<{ start(input: object): Promise<{ status: string; error?: unknown }> }>;
}

const storage = new PostgresStore({ id: 'bench', connectionString: process.env.DATABASE_URL ?? '', max: POOL_SIZE });
await storage.init();
const workflows = { chain: build('chain'), fan: build('fan') };
new Mastra({ workflows: workflows as never, storage, logger: false });
serveRuns({ chain: () => runOnce(workflows.chain), fan: () => runOnce(workflows.fan) });

async function runOnce(workflow: Builder): Promise<void> {
  const result = await (await workflow.createRun()).start({ inputData: {} });
  if (result.status !== 'success') throw new Error(`${result.status} ${String(result.error)}`);
}

function build(shape: Shape): Builder {
  const steps = graphOf(shape).nodes.map(step);
  const begun = createWorkflow({ id: shape, inputSchema: ANY, outputSchema: ANY }) as unknown as Builder;
  if (shape === 'chain') return inARow(begun, steps).commit();
  const [first, last] = [steps[0], steps.at(-1)];
  if (!first || !last) throw new Error('A fan has a first and a last node');
  return begun.then(first).parallel(steps.slice(1, -1)).then(last).commit();
}

function inARow(begun: Builder, steps: Step[]): Builder {
  let built = begun;
  for (const one of steps) built = built.then(one);
  return built;
}

function step(id: string) {
  return createStep({ id, inputSchema: ANY, outputSchema: ANY, execute: async () => ({ done: 1 }) });
}
