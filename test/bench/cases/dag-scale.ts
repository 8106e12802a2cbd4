import { type Bench, compare, type Row, type Subject } from '../comparison.ts';
import type { RequestTemplate } from '../load/closed-loop.ts';
import { type BenchServer, startParley } from '../servers/bench-server.ts';
import { graphOf } from '../servers/graphs/shape.ts';
import { saveWorkflow, type WorkflowDefinition } from './parley-workflows.ts';
import { runningNodes } from './running-nodes.ts';

/** Workflow, and the inputs of one run. */
interface Size {
  name: string;
  nodes: number;
  definition: Omit<WorkflowDefinition, 'name'>;
  inputs: object;
}

/** Number of concurrent runs. It is small, since a large run fills a replica by itself. */
const AT_ONCE = 2;

/**
 * Measures the cost of a node in a small run and in runs ten and a hundred times as large, and the memory of an
 * executing node.
 */
export async function dagScaleCase(bench: Bench): Promise<Row[]> {
  const server = await bench.using(startParley(await bench.postgres.database('parley')));
  const sizes = [
    ...[100, 1_000].map((width) => graphSize('chain', width)),
    ...[100, 998].map((width) => graphSize('fan', width)),
    ...[100, 1_000, 10_000].map(eachSize),
  ];
  const subjects: Subject[] = [];
  for (const size of sizes) {
    await saveWorkflow(server.url, { name: size.name, ...size.definition });
    subjects.push(subjectOf(size, server, bench));
  }
  const rows: Row[] = [];
  for (const subject of subjects) {
    const title = `DAG of ${subject.name}; "at" is runs at once, p50 and p99 are of a whole run`;
    rows.push(
      ...(await compare(bench, { id: subject.name, title, unit: 'node', connections: [AT_ONCE], subjects: [subject] })),
    );
  }
  await runningNodes(bench);
  return rows;
}

function graphSize(shape: 'chain' | 'fan', width: number): Size {
  const { nodes, edges } = graphOf(shape, width);
  const definition = { nodes: nodes.map((id) => ({ id, type: 'input', config: { optional: true } })), edges };
  return { name: `${shape}-${width}`, nodes: nodes.length, definition, inputs: {} };
}

/** Creates a workflow with a node that runs once for each entry of a list. */
function eachSize(items: number): Size {
  const definition = {
    nodes: [
      { id: 'list', type: 'input' },
      {
        id: 'item',
        type: 'input',
        config: { optional: true },
        each: { items: 'inputs.list', concurrency: 50, maxItems: 10_000 },
      },
    ],
    edges: [{ from: 'list', to: 'item' }],
  };
  return {
    name: `each-${items}`,
    nodes: items,
    definition,
    inputs: { list: Array.from({ length: items }, (_, n) => n) },
  };
}

function subjectOf({ name, nodes, inputs }: Size, server: BenchServer, bench: Bench): Subject {
  const template: RequestTemplate = {
    method: 'POST',
    path: `/api/workflows/${name}/run`,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ inputs }),
    expect: '"status":"completed"',
  };
  return { name, server, postgres: bench.postgres, units: nodes, template };
}
