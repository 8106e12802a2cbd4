import { setTimeout as delay } from 'node:timers/promises';
import { isTerminalState } from '#libs/protocol';
import { getTask, message, outline, rpc, stream, subscribe } from '../support/a2a.js';
import { letCommit, STALLABLE, stallCommits } from '../support/commit-stall.js';
import { DoorAgent } from '../support/door-agent.js';
import { openDoor } from '../support/doors.js';
import { OwnPostgres } from '../support/own-postgres.js';
import { startParley } from '../support/parley.js';
import { untilReady } from '../support/until-ready.js';
import { until } from '../support/until.js';

/** Milliseconds for which no commit ends: longer than a replica may stand still before others adopt its Tasks. */
const STALL_MS = 15_000;
const HELD = [
  'task TASK_STATE_SUBMITTED',
  'status TASK_STATE_WORKING',
  'artifact first ',
  'artifact last',
  'status TASK_STATE_COMPLETED',
];

let postgres: OwnPostgres;
const ends: (() => unknown)[] = [];

beforeAll(async () => {
  postgres = await OwnPostgres.start(STALLABLE);
});

afterAll(async () => {
  for (const end of ends.reverse()) await end();
  await postgres.stop();
});

it.each<[string, () => Promise<void>, () => Promise<void>]>([
  ['commits stand still for 15 s', () => stallCommits(postgres.url), () => letCommit(postgres.url)],
  ['the database crashes and another one takes its place', () => postgres.crash(), () => postgres.restart()],
])('an agent is heard once each, and hears each Message once, while %s', async (what, breakIt, mend) => {
  const [one, other] = [
    await startParley({ databaseUrl: postgres.url }),
    await startParley({ databaseUrl: postgres.url }),
  ];
  ends.push(
    () => one.stop(),
    () => other.stop(),
  );
  const agent = await DoorAgent.start();
  ends.push(() => agent.end());
  const { base, name } = await openDoor(one.url, agent.url);
  const reader = await stream(base, 'hold');
  await agent.untilHolding();
  const begun = (await reader.next())?.data.result;
  if (!begun || !('task' in begun)) throw new Error('The stream does not begin with the Task');
  await breakIt();
  agent.release();
  const there = `${other.url}/a2a/agents/${name}`;
  const sent = rpc<{ task?: { id: string } }>(there, 'SendMessage', { message: message('hello') });
  await delay(what.startsWith('commits') ? STALL_MS : 0);
  await mend();
  const { body } = await sent;
  await untilReady(other);
  const ended = async (): Promise<boolean> => isTerminalState((await getTask(there, begun.task.id)).status.state);
  await until(ended, { what: 'the task to end' });
  reader.abort();
  const told = await (await subscribe(there, begun.task.id, '0')).all();
  expect(told.map(({ data }) => outline(data.result!))).toEqual(HELD);
  const heard = agent.heard.map(({ parts }) => parts[0]?.text);
  // A Message that was refused may have been stored, and then reaches the agent as well, but once.
  expect(heard.filter((text) => text === 'hold')).toHaveLength(1);
  const [least, most] = [body.result?.task ? 1 : 0, 1];
  expect([least, most]).toContain(heard.filter((text) => text === 'hello').length);
});
