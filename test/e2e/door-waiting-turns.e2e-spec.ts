import { setTimeout as delay } from 'node:timers/promises';
import { isTerminalState, type JsonObject, type Task } from '#libs/protocol';
import { getTask, sendTask } from '../support/a2a.js';
import { DoorAgent } from '../support/door-agent.js';
import { openDoor } from '../support/doors.js';
import { SilentPort } from '../support/silent-port.js';
import { startParley } from '../support/parley.js';
import { freshDatabase } from '../support/postgres.js';
import { until } from '../support/until.js';

/** Looks that take longer than a pause between two attempts, and less than an attempt. */
const [LOOKS, LOOK_MS] = [10, 50];

const ends: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function begin(base: string, text: string): Promise<string> {
  return (await sendTask(base, text, { configuration: { returnImmediately: true } })).id;
}

/** Resolves with the state in which a Task has ended, and its words. */
async function endOf(base: string, id: string): Promise<string[]> {
  const ended = async (): Promise<Task | undefined> => {
    const task = await getTask(base, id);
    return isTerminalState(task.status.state) ? task : undefined;
  };
  const task = await until(ended, { what: 'the task to end' });
  return [task.status.state, task.status.message?.parts[0]?.text ?? ''];
}

describe('a turn that waits while its replica ends, under the policy fail', () => {
  async function startPair(policy: JsonObject) {
    const database = await freshDatabase();
    ends.push(() => database.drop());
    const one = await startParley({ databaseUrl: database.url });
    ends.push(() => one.kill9());
    const other = await startParley({ databaseUrl: database.url });
    ends.push(() => other.stop());
    const agent = await DoorAgent.start();
    ends.push(() => agent.end());
    const { base, name } = await openDoor(one.url, agent.url, { policy });
    const isUnsent = async (id: string): Promise<boolean> => {
      const sql = 'SELECT FROM registered_agent_task WHERE task_id = $1 AND unsent_message = message_id';
      return (await database.query(sql, [id])).length === 1;
    };
    const freeAt = () => database.query('SELECT free_at FROM registered_agent_rate');
    return { one, other, agent, base, there: `${other.url}/a2a/agents/${name}`, isUnsent, freeAt };
  }

  it('sends the Message once after kill -9, when the agent is back', async () => {
    const { one, agent, base, there, isUnsent } = await startPair({});
    await agent.end();
    const id = await begin(base, 'hello');
    // A replica that is killed during an attempt leaves a Message that may have been sent.
    const stopped = async (): Promise<boolean> => {
      one.freeze();
      if (await isUnsent(id)) return true;
      one.thaw();
      return false;
    };
    await until(stopped, { what: 'the turn to wait for the agent' });
    await one.kill9();
    await agent.begin();
    expect(await endOf(there, id)).toEqual(['TASK_STATE_COMPLETED', 'done']);
    expect(agent.heard.map(({ parts }) => parts[0]?.text)).toEqual(['hello']);
  });

  it('sends the Message once after kill -9 while it was still connecting', async () => {
    const { one, agent, base, there, isUnsent } = await startPair({});
    const port = Number(new URL(agent.url).port);
    await agent.end();
    const silent = await SilentPort.open(1, port);
    ends.push(() => silent.close());
    await silent.fallSilent();
    const id = await begin(base, 'hello');
    await until(() => isUnsent(id), { what: 'the turn to be stored as unsent' });
    // It is so while the connection is awaited, not only in the pauses between two attempts, which are short.
    for (let looks = 0; looks < LOOKS; looks += 1) {
      expect(await isUnsent(id)).toBe(true);
      await delay(LOOK_MS);
    }
    await one.kill9();
    await silent.close();
    await agent.begin();
    expect(await endOf(there, id)).toEqual(['TASK_STATE_COMPLETED', 'done']);
    expect(agent.heard.map(({ parts }) => parts[0]?.text)).toEqual(['hello']);
  });

  it('sends the Message once over a connection that took long', async () => {
    const { one, agent, isUnsent } = await startPair({});
    const silent = await SilentPort.open(Number(new URL(agent.url).port));
    ends.push(() => silent.close());
    const rpc = { url: `http://127.0.0.1:${silent.port}/rpc`, protocolBinding: 'JSONRPC', tenant: '' };
    const card = { supportedInterfaces: [{ ...rpc, protocolVersion: '1.0' }] };
    const behind = await DoorAgent.start({ card });
    ends.push(() => behind.end());
    const { base } = await openDoor(one.url, behind.url);
    await silent.fallSilent();
    const id = await begin(base, 'hello');
    await until(() => isUnsent(id), { what: 'the turn to be stored as unsent' });
    silent.thaw();
    expect(await endOf(base, id)).toEqual(['TASK_STATE_COMPLETED', 'done']);
    expect(agent.heard.map(({ parts }) => parts[0]?.text)).toEqual(['hello']);
  });

  it.each<[string, JsonObject]>([
    ['a slot', { concurrency: 1 }],
    // Twenty seconds between two calls, in which the waiting turn is seen and its replica ends.
    ['the rate', { perMinute: 3 }],
  ])('sends the Message once after SIGTERM, when there is %s for it', async (_what, policy) => {
    const { one, agent, base, there, isUnsent, freeAt } = await startPair(policy);
    const first = await begin(there, 'hold');
    await agent.untilHolding();
    const second = await begin(base, 'hello');
    await until(() => isUnsent(second), { what: 'the turn to wait' });
    const reserved = await freeAt();
    await one.stop();
    agent.release();
    for (const id of [first, second]) expect(await endOf(there, id)).toEqual(['TASK_STATE_COMPLETED', 'done']);
    expect(agent.heard.map(({ parts }) => parts[0]?.text)).toEqual(['hold', 'hello']);
    expect(await freeAt()).toEqual(reserved);
  });
});
