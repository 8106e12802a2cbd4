import type { RecordedEvent } from '#libs/tasks';
import { LegacyBodies } from './notification-request.js';

const IDS = { taskId: 't', contextId: 'c' };
const EVENTS = [
  { task: { id: 't', contextId: 'c', status: { state: 'TASK_STATE_SUBMITTED' } } },
  { statusUpdate: { ...IDS, status: { state: 'TASK_STATE_WORKING' } } },
  { artifactUpdate: { ...IDS, artifact: { artifactId: 'a', parts: [{ text: 'x' }] } } },
  { artifactUpdate: { ...IDS, artifact: { artifactId: 'a', parts: [{ text: 'y' }] }, append: true } },
  { statusUpdate: { ...IDS, status: { state: 'TASK_STATE_COMPLETED' } } },
].map((event, index) => ({ ...IDS, sequence: index + 1, event, json: '' }) as unknown as RecordedEvent);

/** Characters of the JSON of each event, by Task. */
let characters: { [taskId: string]: number };
let reads: [after: number, limit: number][];
let bodies: LegacyBodies;

beforeEach(() => {
  characters = {};
  reads = [];
  bodies = new LegacyBodies({
    readEvents: (taskId, after, limit) => {
      reads.push([after, limit]);
      const json = 'x'.repeat(characters[taskId] ?? 0);
      return Promise.resolve(EVENTS.slice(after, after + limit).map((event) => ({ ...event, json })));
    },
  });
});

async function at(sequence: number, taskId = 't'): Promise<string> {
  const {
    kind,
    status,
    artifacts = [],
  } = JSON.parse(await bodies.renderBody({ taskId, sequence })) as {
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

it('are read anew where those of other Tasks were larger than is kept, but for the last', async () => {
  characters = { small: 1, large: 20 * 1024 * 1024 };
  for (const taskId of ['small', 'large']) await at(1, taskId);
  reads = [];
  for (const taskId of ['large', 'small', 'large']) await at(2, taskId);
  expect(reads).toEqual([
    [1, 1],
    [0, 2],
    [0, 2],
  ]);
});

it('keep nothing of a Task that has ended', async () => {
  await at(5);
  reads = [];
  await at(5);
  expect(reads).toEqual([[0, 5]]);
});
