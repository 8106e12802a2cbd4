import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { isTerminalState, type Task } from '../../libs/protocol/src/index.js';
import { getTask, outline, sendTask, subscribe } from '../support/a2a.js';
import { Balancer } from '../support/balancer.js';
import { openDoor } from '../support/doors.js';
import { endWithProcess } from '../support/end-child.js';
import { OwnPostgres } from '../support/own-postgres.js';
import { freePort, type Parley, startParley } from '../support/parley.js';
import { openDatabase } from '../support/postgres.js';
import { until } from '../support/until.js';
import { openWorkshop, whyNotHere, type Workshop } from './languages.js';

const AGENTS = [
  { language: 'python', sdk: 'a2a-sdk', command: (args: string) => `exec python agent.py ${args}` },
  { language: 'go', sdk: 'a2a-go', command: (args: string) => `go build -o worker . && exec ./worker ${args}` },
] as const;

for (const { language, sdk, command } of AGENTS)
  describe(`A parked Task of an agent on ${sdk}`, { skip: whyNotHere(language) ?? false }, () => {
    const ends: (() => unknown)[] = [];
    let workshop: Workshop | string;

    before(() => {
      workshop = openWorkshop(language, (folder) => {
        cpSync(join(import.meta.dirname, 'parked'), folder, { recursive: true });
      });
    });
    after(async () => {
      for (const end of ends.reverse()) await end();
      if (typeof workshop !== 'string') workshop?.remove();
    });

    it('resumes at another replica by its notification after the one that began it was killed', async (context) => {
      if (typeof workshop === 'string') return context.skip(workshop);
      const release = join(workshop.folder, 'release');
      const port = await freePort();
      ends.push(await startAgent(workshop, command(`${port} ${release}`), port));
      const { first, second, database } = await startReplicas(ends);
      const { base, name } = await openDoor(first.url, `http://127.0.0.1:${port}`, { policy: { park: 1 } });
      const { id } = await sendTask(base, 'work', { configuration: { returnImmediately: true } });
      await until(() => isParked(database, id), { what: 'the task to be parked' });
      await first.kill9();
      const there = `${second.url}/a2a/agents/${name}`;
      const reader = await subscribe(there, id);
      writeFileSync(release, '');
      const seen = (await reader.all()).map(({ data }) => outline(data.result));
      const { status, artifacts = [] } = await endOf(there, id);
      assert.equal(status.state, 'TASK_STATE_COMPLETED', JSON.stringify(status));
      assert.deepEqual(seen.slice(1), ['artifact done', 'status TASK_STATE_COMPLETED']);
      assert.deepEqual(
        artifacts.map(({ parts }) => parts.map(({ text }) => text)),
        [['begun', 'done']],
      );
    });
  });

/** Starts an agent, and waits for its card. @returns the function that ends it */
async function startAgent({ folder, path }: Workshop, command: string, port: number): Promise<() => void> {
  let output = '';
  const env = { ...process.env, PATH: path };
  const agent = endWithProcess(spawn('bash', ['-euc', command], { cwd: folder, env, detached: true }), true);
  for (const stream of [agent.stdout!, agent.stderr!])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const isReady = async (): Promise<boolean> => {
    assert.equal(agent.exitCode, null, output);
    return fetch(`http://127.0.0.1:${port}/.well-known/agent-card.json`).then(
      ({ ok }) => ok,
      () => false,
    );
  };
  await until(isReady, { what: 'the agent' });
  return () => {
    if (agent.pid !== undefined && agent.exitCode === null) process.kill(-agent.pid, 'SIGKILL');
  };
}

type Database = ReturnType<typeof openDatabase>;

/** Starts two replicas behind a balancer, at which agents reach their webhooks. */
async function startReplicas(ends: (() => unknown)[]): Promise<{ first: Parley; second: Parley; database: Database }> {
  const postgres = await OwnPostgres.start();
  ends.push(() => postgres.stop());
  const database = openDatabase(postgres.url);
  ends.push(() => database.end());
  const balancer = await Balancer.start();
  ends.push(() => balancer.stop());
  const replicas: Parley[] = [];
  for (let count = 0; count < 2; count += 1) {
    const replica = await startParley({ databaseUrl: postgres.url, env: { PUBLIC_URL: balancer.url } });
    ends.push(() => replica.stop());
    replicas.push(replica);
  }
  await balancer.serve(...replicas.map(({ url }) => url));
  return { first: replicas[0]!, second: replicas[1]!, database };
}

/** Postpones the poll of a Task, so that only a notification resumes it. @returns true if the Task is parked */
async function isParked(database: Database, id: string): Promise<boolean> {
  const sql = `UPDATE registered_agent_task SET poll_at = now() + interval '1 day'
    WHERE task_id = $1 AND poll_at IS NOT NULL RETURNING task_id`;
  return (await database.query(sql, [id])).length === 1;
}

function endOf(base: string, id: string): Promise<Task> {
  const ended = async (): Promise<Task | undefined> => {
    const task = await getTask(base, id);
    return isTerminalState(task.status.state) ? task : undefined;
  };
  return until(ended, { what: 'the task to end' });
}
