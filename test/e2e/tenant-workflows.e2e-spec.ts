import type { JsonObject } from '#libs/protocol';
import { sendTask } from '../support/a2a.js';
import { BrainstormApi, transforms } from '../support/brainstorm.js';
import { Talks } from '../support/conversation.js';
import { keepCredential, newSecret } from '../support/credentials.js';
import { answers } from '../support/fake-behaviour.js';
import { SseReader } from '../support/sse.js';
import { useTenants } from '../support/tenant-stage.js';
import { purgeUntil, stopScheduledPurges } from '../support/purges.js';
import { until } from '../support/until.js';
import { type Api, input, linear, output, says, script, textOf, unique, type Workflow } from '../support/workflow.js';

const LONG = 180_000;

describe.each(['local', 'http'])('workflows of tenants, NODE_DISPATCH=%s', (dispatch) => {
  const tenants = useTenants({ NODE_DISPATCH: dispatch });
  const { stage } = tenants;
  let acme: Api;
  let other: Api;

  beforeEach(async () => {
    [acme, other] = [await tenants.caller('ann', 'acme'), await tenants.caller('ann', 'other')];
  });

  it('have nodes of their own under the same names, at once', async () => {
    const name = unique('same');
    const of = (text: string): Workflow => linear(name, input('in'), script('s', ...says(text)), output('out'));
    await acme.save(of('of acme'));
    await other.save(of('of other'));
    const told = await Promise.all(
      [acme, other, acme, other].map(async (api) =>
        textOf((await api.ended(await api.start(name, { in: 'x' }), LONG)).result),
      ),
    );
    expect(told).toEqual(['of acme', 'of other', 'of acme', 'of other']);
    for (const [api, text] of [
      [acme, 'of acme'],
      [other, 'of other'],
    ] as const) {
      const task = await sendTask(`${api.url}/a2a/nodes/s`, 'x', api);
      expect(task.artifacts?.[0]?.parts).toMatchObject([{ text }]);
    }
    const owners = await stage.database.query('SELECT DISTINCT tenant FROM task ORDER BY tenant');
    expect(owners).toEqual([{ tenant: 'acme' }, { tenant: 'other' }]);
  });

  it('let agents of the tenant talk and brainstorm', async () => {
    const answer = unique('answers');
    await acme.save(linear(answer, script('a', ...says('from acme'))));
    await other.save(linear(answer, script('a', ...says('from other'))));
    const builders = [await stage.fake(), await stage.fake()].map((it) => it.always(transforms()));
    const talk = { target: answer, message: 'about {{in}}' };
    const storm = { idea: '{{talk}}', agents: builders.map(({ url }) => ({ agent: url })), maxIterations: 1 };
    const workflow = linear(
      unique('both'),
      input('in'),
      { id: 'talk', type: 'conversation', config: talk },
      { id: 'storm', type: 'brainstorm', config: storm },
    );
    for (const [api, said] of [
      [acme, 'from acme'],
      [other, 'from other'],
    ] as const) {
      const run = await api.finish(workflow, { in: 'tea' }, LONG);
      expect(run).toMatchObject({ status: 'completed' });
      expect(textOf(run.nodes['talk']?.artifacts)).toBe(said);
      expect(run.nodes['storm']?.artifacts[0]?.parts[0]?.data).toMatchObject({ idea: said });
      const id = run.nodes['talk']?.taskId ?? '';
      expect(await new Talks(api).get(id)).toMatchObject({ conversationId: id, outcome: 'done' });
    }
  });

  it('prove who calls with the credentials of the tenant, in conversations as well', async () => {
    const agent = (await stage.fake()).always(answers('in'));
    const secret = newSecret();
    const auth = await keepCredential(acme, { kind: 'api-key', value: secret, hosts: [agent.url] });
    const talk = { target: agent.url, message: 'hello', auth: { target: auth } };
    const refused = new Talks(other);
    const failed = await refused.ended(await refused.start(talk), LONG);
    expect(failed.error).toMatchObject({ code: 'CREDENTIAL_UNUSABLE' });
    expect(failed.error?.message).toContain(`there is no credential "${auth}"`);
    expect(agent.sends).toEqual([]);
    const admitted = new Talks(acme);
    expect(await admitted.ended(await admitted.start(talk), LONG)).toMatchObject({ outcome: 'done' });
    expect(agent.sends.map(({ headers }) => headers['x-api-key'])).toEqual([secret]);
  });

  it('are reached by a person’s Message, as an agent of the own tenant alone', async () => {
    const name = unique('mine');
    await acme.save(linear(name, script('a', ...says('from acme'))));
    const message = { messageId: unique('m'), role: 'ROLE_USER', parts: [{ text: 'hello' }] };
    const read = async ({ url, headers }: Api) => {
      const body = { url: acme.base(name), message };
      const reader = await SseReader.open<JsonObject>(`${url}/api/agent-messages`, { method: 'POST', headers, body });
      return (await reader.all({ within: LONG })).at(-1);
    };
    expect((await read(acme))?.raw).toContain('"text":"from acme"');
    expect(await read(other)).toMatchObject({ event: 'error' });
  });
});

describe('what a tenant has', () => {
  const tenants = useTenants({ TASK_RETENTION: '1s' });
  const { stage } = tenants;

  beforeAll(() => stopScheduledPurges(stage.database.query));

  it('goes with its age, be it a conversation, a brainstorm or a run, and only what has ended', async () => {
    const ann = await tenants.caller('ann', 'acme');
    const talks = new Talks(ann);
    const agent = (await stage.fake()).always(answers('told'));
    const asks = await ann.save(linear(unique('asks'), script('q', { ask: 'Which?' })));
    const waiting = await sendTask(ann.base(asks.name), 'x', ann);
    const says_ = await ann.save(linear(unique('says'), script('s', ...says('x'))));
    const run = await ann.start(says_.name);
    const talk = await talks.start({ target: agent.url, message: 'hello' });
    const storms = new BrainstormApi(ann);
    const builders = [await stage.fake(), await stage.fake()].map((it) => it.always(transforms()));
    const storm = await storms.start(builders, { maxIterations: 1 });
    await storms.rested(storm, LONG);
    expect((await storms.act(storm, 'approve')).status).toBe(200);
    const all = [run, talk, storm];
    await until(async () => (await left(all)).every(({ state }) => state.endsWith('COMPLETED')), {
      within: LONG,
      what: 'their ends',
    });
    const purges = ['tasks.purge', 'tasks.purge-untimed'];
    await purgeUntil(stage.database.query, async () => (await left(all)).length === 0, { within: LONG, purges });
    expect((await ann.call('GET', `/conversations/${talk}`)).status).toBe(404);
    expect((await ann.call('GET', `/brainstorms/${storm}`)).status).toBe(404);
    expect((await ann.call('GET', `/runs/${run}`)).status).toBe(404);
    expect((await ann.run(waiting.id)).status).toBe('input-required');
  });

  function left(ids: string[]): Promise<{ state: string }[]> {
    return stage.database.query('SELECT state FROM task WHERE task_id = ANY($1)', [ids]);
  }
});
