// LangGraph with a checkpointer: in PostgreSQL where DATABASE_URL is set, else in memory. Its default durability,
// `async`, saves a step's checkpoint while the next step runs.
import { randomUUID } from 'node:crypto';
import { Annotation, END, MemorySaver, START, StateGraph } from '@langchain/langgraph';
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres';
import pg from 'pg';
import { graphOf, type Shape } from './shape.ts';
import { serveRuns } from './serve-runs.ts';

const POOL_SIZE = 20;
const State = Annotation.Root({
  done: Annotation<number>({ reducer: (sum, one) => sum + one, default: () => 0 }),
});

const saver = await checkpointer();
serveRuns({ chain: runsOf('chain'), fan: runsOf('fan') });

async function checkpointer(): Promise<MemorySaver | PostgresSaver> {
  const url = process.env.DATABASE_URL;
  if (url === undefined) return new MemorySaver();
  const saver = new PostgresSaver(new pg.Pool({ connectionString: url, max: POOL_SIZE }));
  await saver.setup();
  return saver;
}

function runsOf(shape: Shape): () => Promise<unknown> {
  const graph = compile(shape);
  return () => graph.invoke({ done: 0 }, { configurable: { thread_id: randomUUID() }, recursionLimit: 1_000 });
}

function compile(shape: Shape): { invoke(input: object, config: object): Promise<unknown> } {
  const { nodes, edges } = graphOf(shape);
  // Its types know every node by name; ours are made in a loop.
  const builder = new StateGraph(State) as unknown as {
    addNode(name: string, action: () => object): void;
    addEdge(from: string | string[], to: string): void;
    compile(options: object): { invoke(input: object, config: object): Promise<unknown> };
  };
  for (const node of nodes) builder.addNode(node, () => ({ done: 1 }));
  builder.addEdge(START, nodes[0] ?? '');
  for (const { from, to } of edges.filter((edge) => edge.to !== 'last')) builder.addEdge(from, to);
  if (shape === 'fan') builder.addEdge(nodes.slice(1, -1), 'last');
  builder.addEdge(nodes.at(-1) ?? '', END);
  return builder.compile({ checkpointer: saver });
}
