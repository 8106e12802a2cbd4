import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import pg from 'pg';
import type { JsonObject } from '#libs/protocol';
import { FakeAgent } from '../support/fake-agent.js';
import { asleepThoughDue } from '../support/idle-claims.js';
import { type Parley, startParley } from '../support/parley.js';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';
import { logProblems, storedLogs } from '../support/stored-log.js';
import { until } from '../support/until.js';
import { Api, step } from '../support/workflow.js';
import { AGENT, behaviour } from './upgrade/old-definitions.js';

interface Dump {
  /** Which runs were under way, what they come to, and what their agents are still told. */
  runs: Record<string, { texts: string[]; result?: unknown; answer?: { node: string; part: JsonObject } }>;
  /** Of which workflows there are runs that had ended. */
  ended: string[];
}

const PLAIN: Dump['runs'] = {
  plain: { texts: ['b held'], result: 'did b held' },
  asks: {
    texts: ['after said yes'],
    result: 'did after said yes',
    answer: { node: 'q', part: { text: 'yes' } },
  },
  continues: { texts: ['b held'], result: 'did b held' },
};

const OK = { data: { ok: true } };

/**
 * The databases of older versions, as a `kill -9` left them: runs of the workflows in old-definitions.ts with the input
 * `held`, up to where their agent did not answer, and with `whole`, to the end. `plain` is the version before the language,
 * `language` one of those that had it first.
 */
const DUMPS: Record<string, Dump> = {
  plain: { runs: PLAIN, ended: ['plain'] },
  language: {
    runs: {
      ...PLAIN,
      loop: { texts: ['review 2 held', 'draft 3 held', 'review 3 held'], result: 'did review 3 held' },
      parked: { texts: ['after held'], result: 'did after held' },
      gate: { texts: ['after held'], result: 'did after held', answer: { node: 'gate', part: OK } },
      list: {
        texts: ['item 2 held', 'item 3 held'],
        result: '["did item 1 held","did item 2 held","did item 3 held"]',
      },
      retried: { texts: ['r held'], result: 'did r held' },
      child: { texts: ['after held'], result: 'did after held', answer: { node: 'inner', part: OK } },
    },
    ended: ['plain', 'loop', 'list'],
  },
};

describe.each(Object.entries(DUMPS))('on the database of an older version (%s)', (name, { runs, ended }) => {
  let database: TestDatabase;
  let agent: FakeAgent;
  let parley: Parley;
  let api: Api;
  /** Of each run in the dump: how long its log was. */
  let before: Record<string, number>;

  beforeAll(async () => {
    agent = (await FakeAgent.start()).always(behaviour(false));
    database = await freshDatabase({ empty: true });
    await load(database.url, name, agent.url);
    before = Object.fromEntries(
      (await storedLogs(database.query)).map(({ taskId, events }) => [taskId, events.length]),
    );
    parley = await startParley({ databaseUrl: database.url });
    api = new Api(parley.url);
  });

  afterAll(async () => {
    await parley?.stop();
    await agent?.stop();
    await database?.drop();
  });

  /** The runs of the dump by their workflow. */
  async function runsOf(input: string): Promise<Record<string, string>> {
    const logs = await storedLogs(database.query, Object.keys(before));
    const found = logs.flatMap(({ taskId, agent: path, events }) => {
      const [, workflow] = /^workflows\/(\w+)$/.exec(path) ?? [];
      return workflow !== undefined && events[0]?.json.includes(`"in":"${input}"`) ? [[workflow, taskId] as const] : [];
    });
    return Object.fromEntries(found);
  }

  it('runs go on where they were, and call nobody again who has answered', async () => {
    const ids = await runsOf('held');
    expect(Object.keys(ids).toSorted()).toEqual(Object.keys(runs).toSorted());
    for (const [workflow, { answer }] of Object.entries(runs)) {
      if (answer === undefined) continue;
      const body = { node: answer.node, parts: [answer.part] };
      const reply = await api.call('POST', `/runs/${ids[workflow]}/answers`, body);
      expect({ workflow, status: reply.status, body: reply.text }).toMatchObject({ workflow, status: 202 });
    }
    for (const [workflow, { result }] of Object.entries(runs)) {
      const run = await api.ended(ids[workflow] ?? '');
      const [part] = run.result?.[0]?.parts ?? [];
      const status = workflow === 'continues' ? 'failed' : 'completed';
      expect([workflow, run.status, part?.data ?? part?.text]).toEqual([workflow, status, result]);
    }
    expect(agent.texts.toSorted()).toEqual(
      Object.values(runs)
        .flatMap(({ texts }) => texts)
        .toSorted(),
    );
  });

  it('nothing of them is left, and their logs are whole', async () => {
    const ids = Object.values(await runsOf('held'));
    await until(async () => (await asleepThoughDue(database.query)).length === 0, { what: 'nothing due to be asleep' });
    const logs = await storedLogs(database.query);
    expect(logs.flatMap(logProblems)).toEqual([]);
    expect(logs.filter(({ claimed }) => claimed).map(({ agent: path }) => path)).toEqual([]);
    const shorter = ids.filter((id) => (logs.find(({ taskId }) => taskId === id)?.events.length ?? 0) <= before[id]!);
    expect(shorter).toEqual([]);
  });

  it('definitions are run as they were', async () => {
    const ids = await runsOf('whole');
    expect(Object.keys(ids).toSorted()).toEqual(ended.toSorted());
    const steps = async (runId: string): Promise<string[]> => (await (await api.events(runId)).all()).map(step);
    for (const workflow of ended) {
      const again = await api.start(workflow, { in: 'whole' });
      await api.ended(again);
      expect([workflow, await steps(again)]).toEqual([workflow, await steps(ids[workflow] ?? '')]);
    }
  });
});

async function load(url: string, name: string, agentUrl: string): Promise<void> {
  const sql = gunzipSync(readFileSync(join(import.meta.dirname, 'upgrade', `${name}.sql.gz`))).toString();
  const patient = sql.replaceAll(`"endpoint_url":"${AGENT}"`, `"endpoint_url":"${AGENT}","timeout":600`);
  // It sets what only its own session may keep.
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(asOfNow(patient).replaceAll(AGENT, agentUrl));
  } finally {
    await client.end();
  }
}

const TIME = /\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00)/g;

/** With the last of its times now: of a call that was made long ago little time is left, too little for a slow machine. */
function asOfNow(sql: string): string {
  const timeOf = (text: string): number => Date.parse(text.replace(' ', 'T').replace('+00', 'Z'));
  const latest = Math.max(...(sql.match(TIME) ?? []).map(timeOf));
  const age = Date.now() - latest;
  return sql.replace(TIME, (text) => new Date(timeOf(text) + age).toISOString());
}
