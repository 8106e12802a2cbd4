import type { RecordedEvent } from '#libs/tasks';
import { LegacyBodies } from './legacy-bodies.js';

const IDS = { taskId: 't', contextId: 'c' };
const EVENTS = [
  { task: { id: 't', contextId: 'c', status: { state: 'TASK_STATE_SUBMITTED' } } },
  { statusUpdate: { ...IDS, status: { state: 'TASK_STATE_WORKING' } } },
  { artifactUpdate: { ...IDS, artifact: { artifactId: 'a', parts: [{ text: 'x' }] } } },
  { artifactUpdate: { ...IDS, artifact: { artifactId: 'a', parts: [{ text: 'y' }] }, append: true } },
  { statusUpdate: { ...IDS, status: { state: 'TASK_STATE_COMPLETED' } } },
].map((event, index) => ({ ...IDS, sequence: index + 1, event, json: '' }) as unknown as RecordedEvent);

let reads: [after: number, limit: number][];
let bodies: LegacyBodies;

beforeEach(() => {
  reads = [];
  bodies = new LegacyBodies({
    events: (_taskId, after, limit) => {
      reads.push([after, limit]);
      return Promise.resolve(EVENTS.slice(after, after + limit));
    },
  });
});

async function at(sequence: number): Promise<string> {
  const {
    kind,
    status,
    artifacts = [],
  } = JSON.parse(await bodies.of({ taskId: 't', sequence })) as {
    kind: string;
    status: { state: string };
    artifacts?: { parts: { text: string }[] }[];
  };
  return [kind, status.state, ...artifacts.map((it) => it.parts.map(({ text }) => text).join('|'))].join(' ');
}

it('are the Task after each event, read once', async () => {
  const reported = [];
  for (const { sequence } of EVENTS) reported.push(await at(sequence));
  expect(reported).toEqual([
    'task submitted',
    'task working',
    'task working x',
    'task working x|y',
    'task completed x|y',
  ]);
  expect(reads).toEqual([0, 1, 2, 3, 4].map((after) => [after, 1]));
});

it('are the same when they are sent again', async () => {
  const first = [await at(3), await at(5)];
  expect([await at(3), await at(5), await at(5)]).toEqual([...first, first[1]]);
});

it('are those of each config, at the same time as well', async () => {
  expect(await Promise.all([at(4), at(4), at(2)])).toEqual(['task working x|y', 'task working x|y', 'task working']);
});

it('are not made up for events that there are not', async () => {
  await expect(at(6)).rejects.toThrow('ends before 6');
});
