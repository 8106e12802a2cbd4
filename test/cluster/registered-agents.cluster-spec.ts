import { setTimeout as delay } from 'node:timers/promises';
import { rpc } from '../support/a2a.js';
import { FIRST_TURN, SCRIPT } from '../support/mortal-agent-script.js';
import { purgeUntil } from '../support/purges.js';
import { refusedWrites } from '../support/service-metrics.js';
import { before, until } from '../support/until.js';
import type { DoorCall, DoorResult, ResultMode } from './doors/door-call.js';
import { DoorTrial } from './doors/door-trial.js';
import { leftBehind } from './events/left-behind.js';

/** Milliseconds of an outage of the database. */
const OUTAGE_MS = 2_000;

let trial: DoorTrial;

beforeAll(async () => {
  trial = await DoorTrial.start();
});

afterAll(async () => {
  await trial?.stop();
});

async function results(calls: readonly DoorCall[], mode: ResultMode = 'exact'): Promise<DoorResult[]> {
  return Promise.all(calls.map((call) => call.result(trial.database.query, mode)));
}

/** Returns the expected result of a Task that completed, and whose agent got each Message once. */
function completed({ options: { about } }: DoorCall): DoorResult {
  return { about, state: 'TASK_STATE_COMPLETED', heard: [`${about} go`, `${about} answer`], problems: [] };
}

/**
 * Returns the expected result of a Task that failed, because the agent got only some Messages and may not get them
 * again.
 */
function failed(call: DoorCall, messages: number): DoorResult {
  const whole = completed(call);
  return { ...whole, state: 'TASK_STATE_FAILED', heard: whole.heard.slice(0, messages) };
}

function hasTask({ options: { said } }: DoorCall): boolean {
  return said > 0;
}

/**
 * Returns the expected result under the policy `fail`: an agent that has sent nothing after a Message does not get it
 * again.
 */
function completedIfKnown(call: DoorCall): DoorResult {
  return hasTask(call) ? completed(call) : failed(call, 1);
}

/** True if the agent is in the middle of a turn when it waits for permission to send more. */
function isAtWork({ options: { said } }: DoorCall): boolean {
  return said > 0 && said !== FIRST_TURN && said < SCRIPT.length;
}

describe('a replica that is killed after each event of an agent', () => {
  it('lets the others continue each stream, also when the next one is killed as well', async () => {
    const { cluster, surviving: agent } = trial;
    const calls = await trial.beginAll(cluster.replicas[0]!, { agent, path: await trial.open(agent) });
    for (const replica of [...cluster.replicas]) {
      await cluster.kill(replica);
      await cluster.add();
      const working = calls.filter(isAtWork);
      await Promise.all(working.map(({ taskId }) => cluster.owned(taskId)));
    }
    for (const call of calls.filter(hasTask)) call.release();
    expect(await results(calls)).toEqual(calls.map(completedIfKnown));
  });

  it('shows the event that the agent sends while Parley is not connected', async () => {
    const { cluster, surviving: agent } = trial;
    const calls = await trial.beginAll(cluster.replicas[0]!, { agent, path: await trial.open(agent) });
    await cluster.kill(cluster.replicas[0]!);
    await Promise.all([cluster.add(), ...calls.filter(hasTask).map((call) => call.sayNext())]);
    for (const call of calls.filter(hasTask)) call.release();
    expect(await results(calls, 'merged')).toEqual(calls.map(completedIfKnown));
  });
});

describe('an agent that is killed after each event', () => {
  it('is followed if its Tasks survive; otherwise the policy decides', async () => {
    const { cluster, surviving, forgetful } = trial;
    const [replica] = cluster.replicas;
    const begin = async (agent: typeof surviving, policy: object, decision?: 'resend' | 'fail'): Promise<DoorCall[]> =>
      trial.beginAll(replica!, { agent, path: await trial.open(agent, policy), ...(decision && { decision }) });
    const [kept, fail, resend, askResend, askFail] = await Promise.all([
      begin(surviving, {}),
      begin(forgetful, {}),
      begin(forgetful, { forgotten: 'resend' }),
      begin(forgetful, { forgotten: 'ask' }, 'resend'),
      begin(forgetful, { forgotten: 'ask' }, 'fail'),
    ]);
    await Promise.all([surviving.kill(), forgetful.kill()]);
    await Promise.all([surviving.begin(), forgetful.begin()]);
    for (const call of [kept, fail, resend, askResend, askFail].flat()) call.release();
    expect(await results(kept, 'merged')).toEqual(kept.map(completedIfKnown));
    const lost = (call: DoorCall): DoorResult => {
      if (call.options.said === SCRIPT.length) return completed(call);
      return failed(call, call.options.said > FIRST_TURN ? 2 : 1);
    };
    expect(await results(fail)).toEqual(fail.map(lost));
    expect(await results(askFail)).toEqual(askFail.map(lost));
    for (const calls of [resend, askResend]) expect(await results(calls, 'repeated')).toEqual(calls.map(resent));
  });
});

/**
 * Returns the expected result of a Task whose agent forgot it and got the last Message again, which began a new Task
 * there.
 */
function resent(call: DoorCall): DoorResult {
  const { said, about } = call.options;
  const whole = completed(call);
  if (said === SCRIPT.length) return whole;
  const [go, answer] = [`${about} go`, `${about} answer`];
  if (said < FIRST_TURN) return { ...whole, heard: [go, go, answer] };
  return { ...whole, heard: said === FIRST_TURN ? [go, answer, answer] : [go, answer, answer, answer] };
}

it('keeps the log of a replica that was frozen for longer than its claim', async () => {
  const { cluster, surviving: agent } = trial;
  const [frozen, other] = cluster.replicas;
  const calls = await trial.beginAll(frozen!, { agent, path: await trial.open(agent) }, [2, 4, 6, 9]);
  cluster.balancer.targets(other!.url);
  cluster.balancer.cut();
  frozen!.freeze();
  try {
    const executed = async (id: string): Promise<boolean> => (await cluster.owner(id)) === other;
    for (const { taskId } of calls) await until(() => executed(taskId), { what: 'the other replica to take over' });
    await Promise.all(calls.map((call) => call.sayNext()));
  } finally {
    frozen!.thaw();
  }
  for (const call of calls) call.release();
  expect(await results(calls, 'merged')).toEqual(calls.map(completed));
  await until(async () => (await refusedWrites(frozen!)) > 0, { what: 'a late write to be refused' });
  await cluster.balanced();
});

describe('a cancel', () => {
  async function cancel({ taskId, options: { path } }: DoorCall): Promise<string | undefined> {
    const base = `${trial.cluster.balancer.url}/a2a/${path}`;
    const { body } = await rpc<{ status: { state: string } }>(base, 'CancelTask', { id: taskId });
    return body.result?.status.state;
  }

  it('reaches the agent although the replica that executed the Task is dead', async () => {
    const { cluster, surviving: agent } = trial;
    const [call] = await trial.beginAll(cluster.replicas[0]!, { agent, path: await trial.open(agent) }, [3]);
    await cluster.kill(cluster.replicas[0]!);
    const [state] = await Promise.all([cancel(call!), cluster.add()]);
    const [result] = await results([call!]);
    expect([state, result?.state]).toEqual(['TASK_STATE_CANCELED', 'TASK_STATE_CANCELED']);
    const { taskId } = call!.notes().find((it) => it.taskId !== undefined)!;
    expect(agent.notes().filter(({ canceled }) => canceled === taskId)).toHaveLength(1);
  });

  it('ends the Task although the agent does not hear it', async () => {
    const { cluster, surviving: agent } = trial;
    const [call] = await trial.beginAll(cluster.replicas[0]!, { agent, path: await trial.open(agent) }, [3]);
    agent.freeze();
    try {
      expect(await cancel(call!)).toBe('TASK_STATE_CANCELED');
    } finally {
      agent.thaw();
    }
    expect((await results([call!]))[0]).toMatchObject({ state: 'TASK_STATE_CANCELED', problems: [] });
  });
});

it('continues after an outage of the database in the middle', async () => {
  const { cluster, link, surviving: agent } = trial;
  const path = await trial.open(agent);
  const calls = await trial.beginAll(cluster.replicas[0]!, { agent, path });
  link.cut();
  for (const call of calls) call.release();
  await delay(OUTAGE_MS);
  link.mend();
  expect(await results(calls)).toEqual(calls.map(completed));
});

describe('a statement whose answer is lost, or that is lost itself', () => {
  it.each([
    ['journal-one-relayed', 'lost', 2],
    ['journal-one-relayed', 'unanswered', 2],
    ['journal-continued-remotes', 'lost', 2],
    ['journal-continued-remotes', 'unanswered', 2],
    // The ids are stored alone if no event follows them.
    ['relay-keep', 'lost', 1],
    ['relay-keep', 'unanswered', 1],
    ['relay-begin', 'lost', 2],
    ['relay-begin', 'unanswered', 2],
  ] as const)('is repeated: %s is %s', async (statement, fault, said) => {
    const { cluster, link, surviving: agent } = trial;
    const path = await trial.open(agent);
    const broken = link.breakOnce(statement, fault);
    const [call] = await trial.beginAll(cluster.replicas[0]!, { agent, path }, [said]);
    call!.release();
    await before(broken, { what: `${statement} to be ${fault}` });
    expect(await results([call!])).toEqual([completed(call!)]);
  });

  it.each(['lost', 'unanswered'] as const)('asks once: relay-ask is %s', async (fault) => {
    const { cluster, link, forgetful: agent } = trial;
    const path = await trial.open(agent, { forgotten: 'ask' });
    const [call] = await trial.beginAll(cluster.replicas[0]!, { agent, path, decision: 'resend' }, [2]);
    const broken = link.breakOnce('relay-ask', fault);
    await agent.kill();
    await agent.begin();
    await before(broken, { what: `relay-ask to be ${fault}` });
    call!.release();
    expect(await results([call!], 'repeated')).toEqual([resent(call!)]);
  });
});

it('follows the Task that a repeated Message began, if the replica dies before the agent asks', async () => {
  const { cluster, forgetful: agent } = trial;
  const path = await trial.open(agent, { forgotten: 'ask' });
  const [call] = await trial.beginAll(cluster.replicas[0]!, { agent, path, decision: 'resend' }, [3]);
  await agent.kill();
  await agent.begin();
  call!.pauseAt(FIRST_TURN - 1);
  await until(() => call!.outlines().length === 2 + FIRST_TURN - 2, { what: 'the repeated Message to be answered' });
  await cluster.kill((await cluster.owned(call!.taskId))!);
  call!.release();
  await cluster.add();
  expect(await results([call!], 'repeated')).toEqual([resent(call!)]);
  expect(agent.notes('resend')).toEqual([]);
});

it('sends the Message again under the policy resend, if the replica and the agent die', async () => {
  const { cluster, forgetful: agent } = trial;
  const path = await trial.open(agent, { forgotten: 'resend' });
  const calls = await trial.beginAll(cluster.replicas[0]!, { agent, path }, [2, 6, 9]);
  await Promise.all([agent.kill(), cluster.kill(cluster.replicas[0]!)]);
  for (const call of calls) call.release();
  await Promise.all([agent.begin(), cluster.add()]);
  expect(await results(calls, 'repeated')).toEqual(calls.map(resent));
});

it('leaves nothing behind', async () => {
  const { cluster, database } = trial;
  await until(async () => (await leftBehind(cluster)).length === 0, { what: 'all to be let go' }).catch(async () =>
    expect(await leftBehind(cluster)).toEqual([]),
  );
  const orphans = `SELECT task_id FROM registered_agent_task WHERE task_id NOT IN (SELECT task_id FROM task)`;
  expect(await database.query(orphans)).toEqual([]);
  const rows = async (): Promise<number> => (await database.query('SELECT FROM registered_agent_task')).length;
  expect(await rows()).toBeGreaterThan(0);
  await purgeUntil(database.query, async () => (await database.query('SELECT FROM task')).length === 0);
  expect(await rows()).toBe(0);
});
