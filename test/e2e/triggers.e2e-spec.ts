import type { JsonObject } from '#libs/protocol';
import { keepCredential } from '../support/credentials.js';
import { useSharedStage } from '../support/shared-stage.js';
import { until } from '../support/until.js';
import { newSecret, seconds, SIGNED } from '../support/webhook-signatures.js';
import { input, linear, output, unique, type Workflow } from '../support/workflow.js';

interface Trigger extends JsonObject {
  name: string;
  url: string;
}

interface Delivery extends JsonObject {
  number: string;
  deliveryId: string;
  cause: string;
  state: string;
  runId: string;
  replayable: boolean;
}

interface Problem extends JsonObject {
  detail: string;
  errors: { path: string; detail: string }[];
}

/** Answer to a delivery. */
interface Answered {
  status: number;
  body: { number: string; runId: string; reason: string } & Problem;
}

const stage = useSharedStage();

const echoes = (): Workflow => linear(unique('echoes'), input('text'), output('out'));

/** Trigger of a workflow, with the secret of its sender. */
interface Hook extends Trigger {
  secret: string;
  workflow: string;
}

/** Saves a workflow and a trigger of it whose secret is new. */
async function hook(webhook: JsonObject, rules: JsonObject = { inputs: { text: '${body.text}' } }): Promise<Hook> {
  const secret = newSecret();
  const secrets = [await keepCredential(stage.api, { kind: 'bearer', token: secret })];
  const { name: workflow } = await stage.api.save(echoes());
  const body = { name: unique('trigger'), workflow, webhook: { secrets, ...webhook }, ...rules };
  const { status, text, body: made } = await stage.api.call<Trigger>('POST', '/triggers', body);
  if (status !== 201) throw new Error(`${status} ${text}`);
  expect(text).not.toContain(secret);
  return { ...made, secret, workflow };
}

const WEBHOOKS: Readonly<Record<string, JsonObject>> = {
  ...Object.fromEntries(Object.keys(SIGNED).map((scheme) => [scheme, { scheme }])),
  hmac: { scheme: 'hmac', header: 'X-Signature', encoding: 'base64' },
};
const TIMED = ['stripe', 'slack', 'standard-webhooks'];

async function deliver(url: string, body: string, headers: Record<string, string>): Promise<Answered> {
  const sent = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body };
  const reply = await fetch(url, sent);
  const text = await reply.text();
  return { status: reply.status, body: JSON.parse(text) as Answered['body'] };
}

const send = (to: Hook, scheme: string, body: JsonObject): Promise<Answered> => {
  const text = JSON.stringify(body);
  return deliver(to.url, text, SIGNED[scheme]!(text, to.secret));
};

async function history({ name }: Trigger): Promise<Delivery[]> {
  const path = `/triggers/${name}/deliveries?pageSize=100`;
  const { body, status, text } = await stage.api.call<{ deliveries: Delivery[] }>('GET', path);
  if (status !== 200) throw new Error(`${status} ${text}`);
  return body.deliveries;
}

async function runsOf(workflow: string): Promise<string[]> {
  const rows = await stage.database.query<{ task_id: string }>('SELECT task_id FROM task WHERE agent = $1', [
    `workflows/${workflow}`,
  ]);
  return rows.map(({ task_id }) => task_id);
}

describe.each(Object.keys(SIGNED))('A webhook of the scheme %s', (scheme) => {
  const headersOf = SIGNED[scheme]!;

  it('starts a run with the mapped inputs, and answers its id', async () => {
    const to = await hook(WEBHOOKS[scheme]!);
    const { status, body } = await send(to, scheme, { text: 'Good morning' });
    expect([status, body]).toEqual([202, { number: expect.any(String), runId: expect.any(String) }]);
    await until(async () => (await runsOf(to.workflow)).includes(body.runId), { what: `the start of ${body.runId}` });
    const run = await stage.api.ended(body.runId);
    expect([run.status, run.inputs]).toEqual(['completed', { text: 'Good morning' }]);
    expect(await history(to)).toMatchObject([{ ...body, cause: 'delivery', state: 'completed', replayable: true }]);
  });

  it('refuses a forged, an unsigned and an oversized delivery, and starts and writes nothing', async () => {
    const to = await hook(WEBHOOKS[scheme]!);
    const body = JSON.stringify({ text: 'x' });
    const refused = { detail: 'the delivery is not signed with a secret of the webhook, or is too old' };
    const forged = headersOf(body, newSecret());
    expect(await deliver(to.url, body, forged)).toMatchObject({ status: 401, body: refused });
    expect(await deliver(to.url, body, {})).toMatchObject({ status: 401, body: refused });
    const large = JSON.stringify({ text: 'x'.repeat(1024 ** 2) });
    expect(await deliver(to.url, large, headersOf(large, to.secret))).toMatchObject({ status: 413 });
    expect([await history(to), await runsOf(to.workflow)]).toEqual([[], []]);
  });

  it('gives a repetition the answer of the first, and starts one run', async () => {
    const to = await hook(WEBHOOKS[scheme]!);
    const body = JSON.stringify({ text: 'x', id: unique('evt'), event_id: unique('Ev') });
    const headers = headersOf(body, to.secret);
    const [first, second] = await Promise.all([1, 2].map(() => deliver(to.url, body, headers)));
    const third = await deliver(to.url, body, headers);
    expect([first!.status, second, third]).toEqual([202, first, first]);
    await stage.api.ended(await begun(first!.body.runId));
    expect(await runsOf(to.workflow)).toEqual([first!.body.runId]);
    expect(await history(to)).toHaveLength(1);
  });
});

describe('Deliveries that arrive together', () => {
  it('start a run each, with their own inputs', async () => {
    const to = await hook({ scheme: 'bearer' });
    const texts = Array.from({ length: 40 }, (_, index) => `text ${index}`);
    const answers = await Promise.all(texts.map((text) => send(to, 'bearer', { text })));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
    expect(new Set(answers.map(({ body }) => body.runId)).size).toBe(texts.length);
    for (const [index, { body }] of answers.entries()) {
      const { inputs } = await stage.api.ended(await begun(body.runId));
      expect(inputs).toEqual({ text: texts[index] });
    }
  });
});

/** Waits until a run that was promised can be read. */
async function begun(runId: string): Promise<string> {
  const look = async (): Promise<boolean> => (await stage.api.call('GET', `/runs/${runId}`)).status === 200;
  await until(look, { what: `the begin of run ${runId}` });
  return runId;
}

it.each(TIMED)('A webhook of the scheme %s refuses a delivery that is late or early', async (scheme) => {
  const to = await hook(WEBHOOKS[scheme]!);
  const body = JSON.stringify({ text: 'x' });
  for (const offset of [-3_600, 3_600]) {
    const { status } = await deliver(to.url, body, SIGNED[scheme]!(body, to.secret, seconds(offset)));
    expect([offset, status]).toEqual([offset, 401]);
  }
  expect(await history(to)).toEqual([]);
});

describe('A webhook', () => {
  it('answers the challenge of Slack, if it is signed, and writes nothing', async () => {
    const to = await hook({ scheme: 'slack' });
    const challenge = { type: 'url_verification', challenge: 'abc' };
    expect(await send(to, 'slack', challenge)).toEqual({ status: 200, body: { challenge: 'abc' } });
    expect((await deliver(to.url, JSON.stringify(challenge), {})).status).toBe(401);
    expect(await history(to)).toEqual([]);
  });

  it('has two live secrets, of which either signs', async () => {
    const to = await hook({ scheme: 'github' });
    const next = await keepCredential(stage.api, { kind: 'bearer', token: 'the-next-secret' });
    const { body: shown } = await stage.api.call<{ webhook: { secrets: string[] } }>('GET', `/triggers/${to.name}`);
    const webhook = { scheme: 'github', secrets: [...shown.webhook.secrets, next] };
    const replaced = { workflow: to.workflow, webhook, inputs: { text: '${body.text}' } };
    expect((await stage.api.call('PUT', `/triggers/${to.name}`, replaced)).status).toBe(200);
    expect((await send(to, 'github', { text: 'old' })).status).toBe(202);
    expect((await send({ ...to, secret: 'the-next-secret' }, 'github', { text: 'new' })).status).toBe(202);
    const named = await stage.api.call<Problem>('DELETE', `/credentials/${next}`);
    expect([named.status, named.body.detail]).toEqual([409, expect.stringContaining(to.name)]);
  });

  it('starts nothing for an event that its condition leaves out, and says so', async () => {
    const rules = {
      when: "headers['x-github-event'] == 'push' && body.text != 'no'",
      inputs: { text: '${body.text}' },
    };
    const to = await hook({ scheme: 'github' }, rules);
    const { status, body } = await send(to, 'github', { text: 'no' });
    expect([status, body]).toEqual([202, { number: body.number, reason: 'The condition of the trigger is false.' }]);
    expect(await history(to)).toMatchObject([{ state: 'filtered' }]);
    expect(await runsOf(to.workflow)).toEqual([]);
  });

  it('names the input that a delivery gives no value, and takes the same delivery once that is mended', async () => {
    const to = await hook({ scheme: 'github' }, { inputs: { text: '${body.missing}' } });
    const body = JSON.stringify({ text: 'x' });
    const headers = SIGNED['github']!(body, to.secret);
    const refused = await deliver(to.url, body, headers);
    expect([refused.status, refused.body.errors]).toEqual([422, [expect.objectContaining({ path: 'inputs.text' })]]);
    expect(await history(to)).toMatchObject([{ state: 'rejected', errors: refused.body.errors }]);
    const { body: shown } = await stage.api.call<{ webhook: JsonObject }>('GET', `/triggers/${to.name}`);
    const mended = { workflow: to.workflow, webhook: shown.webhook, inputs: { text: '${body.text}' } };
    expect((await stage.api.call('PUT', `/triggers/${to.name}`, mended)).status).toBe(200);
    const taken = await deliver(to.url, body, headers);
    expect([taken.status, taken.body.number]).toEqual([202, (await history(to))[0]!.number]);
    expect((await stage.api.ended(await begun(taken.body.runId))).status).toBe('completed');
  });

  it('names an input that the workflow does not take, or needs', async () => {
    const surplus = await hook({ scheme: 'bearer' }, { inputs: { other: 'x' } });
    const { status, body } = await send(surplus, 'bearer', {});
    expect([status, JSON.stringify(body.errors)]).toEqual([422, expect.stringMatching(/other|text/)]);
    expect(await runsOf(surplus.workflow)).toEqual([]);
  });

  it('refuses a body that is not the JSON that it claims to be', async () => {
    const to = await hook({ scheme: 'github' });
    expect(await deliver(to.url, '{', SIGNED['github']!('{', to.secret))).toMatchObject({ status: 400 });
    expect(await history(to)).toEqual([]);
  });

  it('is unknown under another id, and under any other method', async () => {
    const to = await hook({ scheme: 'bearer' });
    const { status, body } = await deliver(`${to.url.slice(0, -4)}0000`, '{}', SIGNED['bearer']!('', to.secret));
    expect([status, body.detail]).toEqual([404, 'webhook not found']);
    expect((await fetch(to.url)).status).toBe(405);
    await stage.api.call('DELETE', `/triggers/${to.name}`);
    expect((await send(to, 'bearer', {})).status).toBe(404);
  });

  it('refuses further deliveries while too many wait for the ends of their runs', async () => {
    const to = await hook({ scheme: 'bearer', idHeader: 'X-Id' });
    await stage.database.query(FILL, [to.name]);
    const sent = { method: 'POST', headers: SIGNED['bearer']!('', to.secret), body: '{"text":"x"}' };
    const refused = await fetch(to.url, sent);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5']);
    expect(await runsOf(to.workflow)).toEqual([]);
    await stage.api.call('DELETE', `/triggers/${to.name}`);
  });
});

// Open deliveries whose starts are not due: their jobs do not exist.
const FILL = `
  INSERT INTO trigger_delivery (trigger_id, delivery_key, cause, state, is_open, tenant, owner, workflow)
  SELECT trigger_id, 'filled-' || n, 'delivery', 'starting', true, tenant, owner, workflow
  FROM workflow_trigger, generate_series(1, 1000) AS n WHERE name = $1`;

describe('A delivery', () => {
  it('is sent again as a new one, with the trigger as it is now', async () => {
    const to = await hook({ scheme: 'bearer' });
    const first = await send(to, 'bearer', { text: 'one' });
    const { body: shown } = await stage.api.call<{ webhook: JsonObject }>('GET', `/triggers/${to.name}`);
    const changed = { workflow: to.workflow, webhook: shown.webhook, inputs: { text: '${body.text} again' } };
    expect((await stage.api.call('PUT', `/triggers/${to.name}`, changed)).status).toBe(200);
    const path = `/triggers/${to.name}/deliveries/${first.body.number}/replay`;
    const sent = await stage.api.call<Answered['body']>('POST', path);
    expect([sent.status, sent.headers.get('location')]).toEqual([202, `/api/runs/${sent.body.runId}`]);
    expect((await stage.api.ended(await begun(sent.body.runId))).inputs).toEqual({ text: 'one again' });
    const [replayed] = await history(to);
    expect(replayed).toMatchObject({ number: sent.body.number, cause: 'replay', runId: sent.body.runId });
  });

  it('cannot be sent again if it is unknown, or its content is gone', async () => {
    const to = await hook({ scheme: 'bearer' });
    const { body } = await send(to, 'bearer', { text: 'x' });
    const replay = async (number: string): Promise<number> =>
      (await stage.api.call('POST', `/triggers/${to.name}/deliveries/${number}/replay`)).status;
    expect([await replay('999999999'), await replay('x')]).toEqual([404, 404]);
    await stage.database.query('UPDATE trigger_delivery SET event = NULL WHERE number = $1', [body.number]);
    expect(await replay(body.number)).toBe(409);
    expect((await history(to))[0]).toMatchObject({ replayable: false });
  });

  it('is kept with its content if it is among the newest hundred, up to four megabytes', async () => {
    const to = await hook({ scheme: 'bearer' }, { when: 'false', inputs: {} });
    await stage.database.query(FILL_OLD, [to.name]);
    await send(to, 'bearer', { text: 'x' });
    const kept = await stage.database.query<{ recent: number; events: number; bytes: number }>(KEPT, [to.name]);
    expect(kept).toEqual([{ recent: 100, events: 40, bytes: expect.any(Number) }]);
    expect(kept[0]!.bytes).toBeLessThanOrEqual(4 * 1024 ** 2);
  });

  it('is forgotten after four days, unless it is among the newest hundred or its run has not ended', async () => {
    const to = await hook({ scheme: 'bearer' }, { when: 'false', inputs: {} });
    await stage.database.query(FILL_AGED, [to.name]);
    await stage.database.query(`SELECT graphile_worker.add_job('triggers.sweep', '{}'::json)`);
    let left: string[] = [];
    const look = async (): Promise<boolean> => {
      left = (await history(to)).map(({ deliveryId }) => deliveryId);
      return !left.includes('aged');
    };
    await until(look, { what: () => `the end of the aged delivery; there are ${left.join(', ')}` });
    expect(left.toSorted()).toEqual(['newest', 'open', 'young']);
    await stage.api.call('DELETE', `/triggers/${to.name}`);
  });
});

const FILL_AGED = `
  INSERT INTO trigger_delivery (trigger_id, delivery_key, cause, state, is_open, is_recent, tenant, owner, workflow, received_at)
  SELECT trigger_id, key, 'delivery', state, state = 'queued', key = 'newest', tenant, owner, workflow, now() - age::interval
  FROM workflow_trigger, (VALUES ('aged', 'filtered', '97 hours'), ('newest', 'filtered', '97 hours'),
    ('open', 'queued', '97 hours'), ('young', 'filtered', '95 hours')) AS aged (key, state, age)
  WHERE name = $1`;

const FILL_OLD = `
  INSERT INTO trigger_delivery (trigger_id, delivery_key, cause, state, is_open, tenant, owner, workflow, event, event_bytes)
  SELECT trigger_id, 'old-' || n, 'delivery', 'filtered', false, tenant, owner, workflow, '{}', 107374
  FROM workflow_trigger, generate_series(1, 150) AS n WHERE name = $1`;

const KEPT = `
  SELECT count(*) FILTER (WHERE is_recent)::int AS recent, count(event)::int AS events, sum(event_bytes)::int AS bytes
  FROM trigger_delivery JOIN workflow_trigger USING (trigger_id) WHERE name = $1`;

describe('The API of triggers', () => {
  it('names each member that is wrong', async () => {
    const { name: workflow } = await stage.api.save(echoes());
    const secrets = [await keepCredential(stage.api, { kind: 'bearer', token: 'x' })];
    const post = async (fields: object): Promise<[number, string[]]> => {
      const body = { name: unique('trigger'), workflow, webhook: { scheme: 'github', secrets }, ...fields };
      const reply = await stage.api.call<Problem>('POST', '/triggers', body);
      return [reply.status, (reply.body.errors ?? []).map(({ path, detail }) => `${path}: ${detail}`)];
    };
    const isAt = (...paths: string[]): string[] => paths.map((path): string => expect.stringMatching(`^${path}: `));
    expect(await post({ webhook: undefined })).toEqual([400, [': exactly one of webhook and run is required']]);
    expect(await post({ webhook: { scheme: 'x', secrets: [] } })).toEqual([
      400,
      isAt('webhook\\.scheme', 'webhook\\.secrets'),
    ]);
    expect(await post({ webhook: { scheme: 'hmac', secrets } })).toEqual([
      400,
      ['webhook.header: is required for the scheme hmac'],
    ]);
    const strange = { scheme: 'github', secrets, prefix: 'x', more: 1 };
    expect(await post({ webhook: strange })).toEqual([400, ['webhook.more: is not a field of a webhook']]);
    expect(await post({ webhook: { scheme: 'github', secrets, prefix: 'x' } })).toEqual([
      400,
      ['webhook.prefix: is a field of the schemes hmac only'],
    ]);
    expect(await post({ when: 'bdy.x', inputs: { a: '${1 +}' } })).toEqual([400, isAt('when', 'inputs\\.a')]);
    expect(await post({ inputs: { a: 'x'.repeat(16_400) } })).toEqual([400, isAt('inputs')]);
    expect(await post({ workflow: 'missing' })).toEqual([422, ['workflow: the workflow "missing" does not exist']]);
    const missing = { scheme: 'github', secrets: [secrets[0], 'missing'] };
    expect(await post({ webhook: missing })).toEqual([
      422,
      ['webhook.secrets[1]: the credential "missing" does not exist'],
    ]);
    const key = await keepCredential(stage.api, { kind: 'basic', username: 'x', password: 'x' });
    expect(await post({ webhook: { scheme: 'github', secrets: [key] } })).toEqual([
      422,
      isAt('webhook\\.secrets\\[0\\]'),
    ]);
    expect(await post({ surprise: 1 })).toEqual([400, ['surprise: is not a field of a trigger']]);
  });

  it('saves triggers from files, keeps their addresses, and deletes those that are gone', async () => {
    const workflow = echoes();
    const [name, mark] = [unique('trigger'), unique('folder')];
    const secrets = [await keepCredential(stage.api, { kind: 'bearer', token: 'x' })];
    const definition = { name, workflow: workflow.name, webhook: { scheme: 'github', secrets } };
    const apply = async (objects: object[]): Promise<string[] | undefined> =>
      (
        await stage.api.call<{ objects: { action: string }[] }>('POST', '/apply', {
          ...{ workflows: [{ definition: workflow }], objects, mark, prune: true },
        })
      ).body.objects?.map(({ action }) => action);
    const entry = (fields: object): object => ({ kind: 'trigger', definition: { ...definition, ...fields } });
    const address = async (): Promise<string> => (await stage.api.call<Trigger>('GET', `/triggers/${name}`)).body.url;
    expect(await apply([entry({})])).toEqual(['created']);
    const before = await address();
    expect(before).toMatch(/\/hooks\/[\da-f]{32}$/);
    expect(await apply([entry({})])).toEqual(['unchanged']);
    expect(await apply([entry({ when: 'body.a' })])).toEqual(['updated']);
    expect(await address()).toBe(before);
    expect(await apply([])).toEqual(['deleted']);
    expect((await stage.api.call('GET', `/triggers/${name}`)).status).toBe(404);
  });
});
