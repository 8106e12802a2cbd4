import { type Bench, compare, type Row, type Subject } from '../comparison.ts';
import type { RequestTemplate } from '../load/closed-loop.ts';
import type { Measurement } from '../measure/measurement.ts';
import { startParley, startPeer } from '../servers/bench-server.ts';
import { CHUNK } from '../servers/chunk.ts';
import { sdkDatabase } from '../servers/sdk-database.ts';
import { rpc, userMessage } from './a2a-requests.ts';
import { saveWorkflow } from './parley-workflows.ts';
import { PARLEY, SDK_MEMORY, SDK_POSTGRES } from './subject-names.ts';

/**
 * Measures Tasks with few and with many artifact chunks: the cost of a chunk must not depend on the number of chunks
 * before it.
 */
export async function chunksCase(bench: Bench): Promise<Row[]> {
  const { options, postgres } = bench;
  const { few, many } = options.chunks;
  // The script of the many has a step for each.
  const parley = await bench.using(startParley(await postgres.database('parley'), { JSON_MEMBERS_LIMIT: '1000000' }));
  const memory = await bench.using(startPeer('sdk-memory.ts'));
  const stored = await bench.using(startPeer('sdk-postgres.ts', { DATABASE_URL: await sdkDatabase(postgres) }));
  const subjects: Subject[] = [];
  for (const count of [few, many]) {
    await saveWorkflow(parley.url, chunkWorkflow(count));
    const name = `${PARLEY}: ${count.toLocaleString('en-US')} chunks`;
    const path = `/a2a/workflows/chunks-${count}/nodes/chunks`;
    subjects.push({ name, server: parley, postgres, template: streaming(path, count), units: count });
  }
  const template = streaming('/', few);
  const name = (subject: string): string => `${subject}: ${few.toLocaleString('en-US')} chunks`;
  subjects.push({ name: name(SDK_MEMORY), server: memory, template, units: few });
  subjects.push({ name: name(SDK_POSTGRES), server: stored, postgres, template, units: few });
  bench.note(
    'Chunks: the official SDK is asked for the few only, since it copies or writes the whole Task again for each: of ' +
      '10,000 its server in memory had not answered after 60 s.',
  );
  const rows = await compare(bench, {
    id: 'chunks',
    title: `SendStreamingMessage to a Task of many artifact chunks of ${CHUNK.length} bytes (p50 and p99 of a whole Task)`,
    unit: 'chunk',
    connections: [1],
    subjects,
  });
  const [one, other] = rows.filter(({ subject }) => subject.startsWith(PARLEY)).map(({ measurement: it }) => it);
  if (one && other) bench.fact('chunkCostRatio', cpuOf(other) / cpuOf(one));
  return rows;
}

function cpuOf({ nodeCpu, postgresCpu = 0 }: Measurement): number {
  return nodeCpu + postgresCpu;
}

function streaming(path: string, count: number): RequestTemplate {
  return rpc(path, 'SendStreamingMessage', userMessage(`chunks ${count}`), 'TASK_STATE_COMPLETED');
}

function chunkWorkflow(count: number): Parameters<typeof saveWorkflow>[1] {
  const steps = Array.from({ length: count }, (_, index) => ({
    artifact: { artifactId: 'text', parts: [{ text: CHUNK }], append: index > 0 },
  }));
  const script = { rules: [], otherwise: [...steps, { complete: true }] };
  return { name: `chunks-${count}`, nodes: [{ id: 'chunks', type: 'script', config: { script } }], edges: [] };
}
