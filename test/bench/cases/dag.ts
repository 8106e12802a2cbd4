import { type Bench, compare, type Comparison, type Row, type Subject } from '../comparison.ts';
import type { RequestTemplate } from '../load/closed-loop.ts';
import { startParley, startPeer } from '../servers/bench-server.ts';
import { graphOf, type Shape } from '../servers/graphs/shape.ts';
import { saveWorkflow } from './parley-workflows.ts';
import { BATCH_FLOOR, DURABLE_PEERS, PARLEY } from './subject-names.ts';

interface Peer {
  name: string;
  file: string;
  database?: string;
  environment?: Record<string, string>;
}

const [LANGGRAPH, DBOS, MASTRA] = DURABLE_PEERS;
const PEERS: Peer[] = [
  { name: LANGGRAPH, file: 'graphs/langgraph.ts', database: 'langgraph' },
  { name: 'LangGraph, memory', file: 'graphs/langgraph.ts' },
  { name: DBOS, file: 'graphs/dbos.ts', database: 'dbos' },
  { name: MASTRA, file: 'graphs/mastra.ts', database: 'mastra' },
  { name: 'floor: a commit per node', file: 'graphs/floor.ts', database: 'each', environment: { COMMIT: 'each' } },
  { name: BATCH_FLOOR, file: 'graphs/floor.ts', database: 'batch', environment: { COMMIT: 'batch' } },
];

/** Measures runs of graphs whose nodes do nothing. */
export async function dagCase(bench: Bench): Promise<Row[]> {
  const contenders = [await parleyContender(bench), ...(await peers(bench))];
  const rows: Row[] = [];
  for (const shape of ['chain', 'fan'] as const) {
    const units = graphOf(shape).nodes.length;
    const comparison: Comparison = {
      id: shape,
      title: `DAG ${shape}-100: ${units} no-op nodes per run; "at" is runs at once, p50 and p99 are of a whole run`,
      unit: 'node',
      connections: bench.options.runsAtOnce,
      subjects: contenders.map((contender) => ({ ...contender.subject, units, template: contender.request(shape) })),
    };
    rows.push(...(await compare(bench, comparison)));
  }
  return rows;
}

/** Compared engine, and the requests for one run of each graph. */
interface Contender {
  subject: Subject;
  request(shape: Shape): RequestTemplate;
}

/** Creates the contender Parley, with `input` nodes: the type with the fewest events, which passes its input on. */
async function parleyContender(bench: Bench): Promise<Contender> {
  const server = await bench.using(startParley(await bench.postgres.database('parley')));
  for (const shape of ['chain', 'fan'] as const) {
    const { nodes, edges } = graphOf(shape);
    await saveWorkflow(server.url, {
      name: shape,
      nodes: nodes.map((id) => ({ id, type: 'input', config: { optional: true } })),
      edges,
    });
  }
  return {
    subject: { name: PARLEY, server, postgres: bench.postgres },
    request: (shape) => ({
      method: 'POST',
      path: `/api/workflows/${shape}/run`,
      headers: { 'content-type': 'application/json' },
      body: '{"inputs":{}}',
      expect: '"status":"completed"',
    }),
  };
}

async function peers(bench: Bench): Promise<Contender[]> {
  const started = await Promise.all((bench.options.check ? [] : PEERS).map((peer) => startContender(bench, peer)));
  return started.flat();
}

/** Starts another engine as a contender. Returns an empty list, and adds a note, if it does not start. */
async function startContender(bench: Bench, { name, file, database, environment }: Peer): Promise<Contender[]> {
  try {
    const settings: Record<string, string> = { ...environment };
    if (database !== undefined) settings.DATABASE_URL = await bench.postgres.database(database);
    const server = await bench.using(startPeer(file, settings));
    const postgres = database === undefined ? undefined : bench.postgres;
    const request = (shape: Shape): RequestTemplate => ({
      method: 'POST',
      path: `/${shape}`,
      headers: {},
      body: '',
      expect: 'done',
    });
    return [{ subject: { name, server, postgres }, request }];
  } catch (error) {
    bench.note(`${name} did not start: ${(error as Error).message}`);
    return [];
  }
}
