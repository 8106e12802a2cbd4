import { type Bench, compare, type Row, type Subject } from '../comparison.ts';
import { NUMBER_MARK, type RequestTemplate } from '../load/closed-loop.ts';
import { startParley, startPeer } from '../servers/bench-server.ts';
import { sdkDatabase } from '../servers/sdk-database.ts';
import { PARLEY_TABLES, SDK_TABLES, SEEDED_ID, storeCopies } from '../servers/stored-tasks.ts';
import { A2A_HEADERS, rpc, userMessage } from './a2a-requests.ts';
import { ECHO, ECHO_PATH, saveWorkflow } from './parley-workflows.ts';
import { PARLEY, SDK_MEMORY, SDK_POSTGRES, SELECT_FLOOR } from './subject-names.ts';

const PAGE = 50;
/** Step between the Tasks that are read, a prime, so that they are far from each other. */
const STRIDE = 7_919;
const ID = `${SEEDED_ID}${NUMBER_MARK}`;

/** Measures GetTask, ListTasks and SubscribeToTask over many stored Tasks of four events. */
export async function readCase(bench: Bench): Promise<Row[]> {
  const { connections, storedTasks } = bench.options;
  const stores = await startStores(bench);
  const numbers = { modulo: storedTasks, stride: STRIDE };
  const anywhere = (template: RequestTemplate): RequestTemplate => ({ ...template, numbers });
  const { parley, stored, memory, selecting } = stores;
  const stock = `${storedTasks.toLocaleString('en-US')} stored Tasks`;
  const get = (path: string, id = ID, expect = 'TASK_STATE_COMPLETED') =>
    anywhere(rpc(path, 'GetTask', { id }, expect));
  const list = (path: string) => rpc(path, 'ListTasks', { pageSize: PAGE }, 'TASK_STATE_COMPLETED');
  const subscribe = anywhere(rpc(ECHO_PATH, 'SubscribeToTask', { id: ID }, 'TASK_STATE_COMPLETED'));
  const comparisons = [
    {
      id: 'get',
      title: `GetTask, any of ${stock}`,
      subjects: [
        { ...parley, template: get(ECHO_PATH) },
        { ...stored, template: get('/') },
        { ...memory, name: `${SDK_MEMORY} (1 Task)`, template: get('/', stores.memoryTask) },
        // A row of the log leaves out how events begin.
        { ...selecting, template: get('/', ID, 'COMPLETED') },
      ],
    },
    {
      id: 'list',
      title: `ListTasks, the newest ${PAGE} of ${stock}`,
      subjects: [
        { ...parley, template: list(ECHO_PATH) },
        { ...stored, template: list('/') },
      ],
    },
    {
      id: 'subscribe',
      title: `SubscribeToTask after sequence 1 of an ended Task, any of ${stock}`,
      subjects: [{ ...parley, template: { ...subscribe, headers: { ...A2A_HEADERS, 'last-event-id': '1' } } }],
    },
  ];
  bench.note('SubscribeToTask to an ended Task: the official SDK refuses it, so it has no row.');
  bench.note(`ListTasks: the official SDK's store in memory is left out: it cannot be filled with ${stock}.`);
  const rows: Row[] = [];
  for (const comparison of comparisons)
    rows.push(...(await compare(bench, { ...comparison, unit: 'request', connections })));
  return rows;
}

type Store = Omit<Subject, 'template'>;

interface Stores {
  parley: Store;
  stored: Store;
  memory: Store;
  memoryTask: string;
  selecting: Store;
}

async function startStores(bench: Bench): Promise<Stores> {
  const { postgres, options, progress } = bench;
  const parleyUrl = await postgres.database('parley');
  const parley = await bench.using(startParley(parleyUrl));
  await saveWorkflow(parley.url, ECHO);
  const sdkUrl = await sdkDatabase(postgres);
  const stored = await bench.using(startPeer('sdk-postgres.ts', { DATABASE_URL: sdkUrl }));
  const memory = await bench.using(startPeer('sdk-memory.ts'));
  const selecting = await bench.using(startPeer('stored-read.ts', { DATABASE_URL: parleyUrl }));
  progress(`Storing ${options.storedTasks} Tasks in each database …`);
  await storeCopies(parleyUrl, PARLEY_TABLES, await sendOne(`${parley.url}${ECHO_PATH}`), options.storedTasks);
  await storeCopies(sdkUrl, SDK_TABLES, await sendOne(`${stored.url}/`), options.storedTasks);
  return {
    parley: { name: PARLEY, server: parley, postgres },
    stored: { name: SDK_POSTGRES, server: stored, postgres },
    memory: { name: SDK_MEMORY, server: memory },
    memoryTask: await sendOne(`${memory.url}/`),
    selecting: { name: SELECT_FLOOR, server: selecting, postgres },
  };
}

/** Sends one Message and returns the id of its Task. */
async function sendOne(url: string): Promise<string> {
  const { headers, body } = rpc('', 'SendMessage', userMessage(), '');
  const answer = await fetch(url, { method: 'POST', headers, body });
  const { result } = (await answer.json()) as { result: { task: { id: string } } };
  return result.task.id;
}
