import { type Bench, compare, type Row, type Subject } from '../comparison.ts';
import { startParley, startPeer } from '../servers/bench-server.ts';
import { sdkDatabase } from '../servers/sdk-database.ts';
import { rpc, userMessage } from './a2a-requests.ts';
import { ECHO, ECHO_PATH, saveWorkflow } from './parley-workflows.ts';
import { COMMIT_FLOOR, NEST_FLOOR, NODE_FLOOR, PARLEY, SDK_MEMORY, SDK_POSTGRES } from './subject-names.ts';

type Method = 'SendMessage' | 'SendStreamingMessage';

/** Measures a blocking SendMessage to an agent of four events. */
export function sendCase(bench: Bench): Promise<Row[]> {
  return sendingCase(bench, 'send', 'SendMessage, blocking, 4 events', 'SendMessage');
}

/** Measures SendStreamingMessage to an agent of four events. */
export function streamCase(bench: Bench): Promise<Row[]> {
  return sendingCase(bench, 'stream', 'SendStreamingMessage, 4 events', 'SendStreamingMessage');
}

async function sendingCase(bench: Bench, id: string, title: string, method: Method): Promise<Row[]> {
  const subjects = await startSubjects(bench, method);
  return compare(bench, { id, title, unit: 'request', connections: bench.options.connections, subjects });
}

async function startSubjects(bench: Bench, method: Method): Promise<Subject[]> {
  const { postgres } = bench;
  const template = (path: string) => rpc(path, method, userMessage(), 'TASK_STATE_COMPLETED');
  const parleyUrl = await postgres.database('parley');
  const sdkUrl = await sdkDatabase(postgres);
  const floorUrl = await postgres.database('floor');
  const [parley, memory, stored, committed, nest, node] = await Promise.all([
    bench.using(startParley(parleyUrl)),
    bench.using(startPeer('sdk-memory.ts')),
    bench.using(startPeer('sdk-postgres.ts', { DATABASE_URL: sdkUrl })),
    bench.using(startPeer('stored-echo.ts', { DATABASE_URL: floorUrl })),
    bench.using(startPeer('nest-echo.ts')),
    bench.using(startPeer('node-echo.ts')),
  ]);
  await saveWorkflow(parley.url, ECHO);
  return [
    { name: PARLEY, server: parley, postgres, template: template(ECHO_PATH) },
    { name: SDK_MEMORY, server: memory, template: template('/') },
    { name: SDK_POSTGRES, server: stored, postgres, template: template('/') },
    { name: COMMIT_FLOOR, server: committed, postgres, template: template('/') },
    { name: NEST_FLOOR, server: nest, template: template('/') },
    { name: NODE_FLOOR, server: node, template: template('/') },
  ];
}
