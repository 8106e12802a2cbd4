import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { JsonObject } from '#libs/protocol';
import { apiKeyEnv, testCaller } from '../support/callers.js';
import { keepCredential, newSecret } from '../support/credentials.js';
import { FakeLlm } from '../support/fake-llm.js';
import { metric } from '../support/service-metrics.js';
import { useStage } from '../support/stage.js';
import { until } from '../support/until.js';
import { Api, unique } from '../support/workflow.js';

interface Tested {
  ok: boolean;
  latencyMs: number;
  text?: string;
  truncated?: boolean;
  usage?: JsonObject;
  failure?: { cause: string; message: string; status?: number };
}

const ann = testCaller('ann');
const bob = testCaller('bob');
/** Caller of the failures: a caller has 20 tests in a minute, and those of this file are more. */
const cid = testCaller('cid');
const stage = useStage({ env: { ...apiKeyEnv(ann, bob, cid), OUTBOUND_ALLOW: '127.0.0.1', LOG_LEVEL: 'debug' } });
let api: Api;
let llm: FakeLlm;

beforeAll(async () => {
  api = new Api(stage.parley.url, ann.headers);
  llm = await FakeLlm.start();
  stage.defer(() => llm.stop());
});

beforeEach(() => {
  llm.answer = () => 'ok';
});

const model = (more: JsonObject = {}): JsonObject => ({
  name: unique('m'),
  provider: 'openai-compatible',
  model: 'small',
  baseUrl: llm.url,
  ...more,
});

const tried = async (more: JsonObject = {}, by = api): Promise<Tested> => {
  const reply = await by.call<Tested>('POST', '/models/test', model(more));
  if (reply.status !== 200) throw new Error(`The test was refused: ${reply.status} ${reply.text}`);
  return reply.body;
};

describe('a test of a model', () => {
  it('answers with text, time, tokens and cost, and stores nothing', async () => {
    const secret = newSecret();
    const auth = await keepCredential(api, { kind: 'bearer', token: secret });
    llm.answer = () => ({ text: 'ok', usage: { input: 9, output: 2 } });
    const sent = model({ auth, price: { input: '1', output: '2' } });
    // Without the days, which may change at midnight.
    const usage = async (): Promise<unknown> => {
      const { total, groups } = (await api.call<JsonObject>('GET', '/usage')).body;
      return { total, groups };
    };
    const [lists, used] = [(await api.call('GET', '/models')).text, await usage()];
    const reply = await api.call<Tested>('POST', '/models/test', sent);
    expect([reply.status, reply.body]).toEqual([
      200,
      {
        ok: true,
        latencyMs: expect.any(Number),
        text: 'ok',
        usage: { inputTokens: 9, outputTokens: 2, cost: '0.000013' },
      },
    ]);
    const { headers, body } = llm.calls.at(-1)!;
    expect([headers['authorization'], body['model'], body['max_tokens']]).toEqual([`Bearer ${secret}`, 'small', 64]);
    expect([(await api.call('GET', '/models')).text, await usage()]).toEqual([lists, used]);
    expect((await api.call('GET', '/runs')).body).toMatchObject({ runs: [] });
  });

  it('tests a stored model as it is stored', async () => {
    const sent = model({ model: 'stored' });
    await api.call('POST', '/models', sent);
    const reply = await api.call<Tested>('POST', `/models/${sent['name'] as string}/test`);
    expect([reply.status, reply.body.ok, llm.calls.at(-1)!.body['model']]).toEqual([200, true, 'stored']);
    expect((await api.call('POST', '/models/nothing-here/test')).status).toBe(404);
  });

  it('names the cause of each failure', async () => {
    const status = (code: number, error: string): void => {
      llm.answer = () => ({ status: code, error });
    };
    const cids = new Api(stage.parley.url, cid.headers);
    const cause = async (more: JsonObject = {}): Promise<string | undefined> =>
      (await tried(more, cids)).failure?.cause;
    status(401, 'invalid key');
    expect(await cause()).toBe('key-refused');
    status(400, 'API key not valid. Please pass a valid API key.');
    expect(await cause()).toBe('key-refused');
    status(404, 'The model `small` does not exist');
    expect(await cause()).toBe('unknown-model');
    status(400, 'unknown model: small');
    expect(await cause()).toBe('unknown-model');
    status(429, 'slow down');
    expect(await cause()).toBe('rate-limited');
    status(500, 'upset');
    expect(await cause()).toBe('provider-error');
    status(400, 'bad request');
    expect(await cause()).toBe('refused');
    llm.answer = () => ({ text: 'o', cut: 'short' });
    expect(await cause()).toBe('unusable-answer');
    expect(await cause({ baseUrl: 'http://127.0.0.1:1/v1' })).toBe('unreachable');
    expect(await cause({ auth: 'never-stored' })).toBe('credential');
  });

  it('names an address that is no model endpoint', async () => {
    const page = createServer((_request, response) => response.writeHead(404).end('<h1>Not found</h1>'));
    page.listen(0, '127.0.0.1');
    await once(page, 'listening');
    stage.defer(() => page.close());
    const baseUrl = `http://127.0.0.1:${(page.address() as AddressInfo).port}`;
    expect((await tried({ baseUrl })).failure?.cause).toBe('wrong-address');
    const refused = await api.call<{ errors: JsonObject[] }>(
      'POST',
      '/models/test',
      model({ baseUrl: 'http://169.254.169.254/v1' }),
    );
    expect([refused.status, refused.body.errors[0]?.['path']]).toEqual([400, 'baseUrl']);
  });

  it('accepts an answer that reaches the limit of tokens, and a model that knows no such limit', async () => {
    llm.answer = () => ({ text: 'ok and', reason: 'length' });
    expect(await tried()).toMatchObject({ ok: true, text: 'ok and', truncated: true });
    llm.answer = (body) =>
      'max_tokens' in body ? { status: 400, error: "Unsupported parameter: 'max_tokens'" } : 'unlimited';
    expect(await tried()).toMatchObject({ ok: true, text: 'unlimited' });
  });

  it('never shows a secret, and leaves the credential as it was', async () => {
    const secret = newSecret();
    const auth = await keepCredential(api, { kind: 'bearer', token: secret });
    llm.answer = () => `you sent ${secret}`;
    expect((await tried({ auth })).text).toBe('you sent […]');
    llm.answer = () => ({ status: 401, error: `wrong: ${secret}` });
    expect(JSON.stringify(await tried({ auth }))).not.toContain(secret);
    llm.answer = () => ({ text: 'x'.repeat(40_000) });
    const long = await tried({ auth });
    expect([long.text?.length, long.truncated]).toEqual([500, true]);
    const { text } = await api.call('GET', `/credentials/${auth}`);
    expect(text).not.toContain('lastError');
    expect(stage.parley.logs()).not.toContain(secret);
  });

  it('counts its tokens, and no failure of a model, in the metrics', async () => {
    const name = unique('counted');
    llm.answer = () => ({ text: 'ok', usage: { input: 9, output: 2 } });
    await tried({ name });
    llm.answer = () => 500;
    await tried({ name });
    const labels = `model="${name}"`;
    expect(await metric(stage.parley, 'parley_model_tokens_total', labels)).toBe(11);
    expect(await metric(stage.parley, 'parley_model_errors_total', labels)).toBe(0);
  });

  it('gives a caller two at a time, and frees the place of a client that leaves', async () => {
    let begun = 0;
    const never = new Promise<never>(() => undefined);
    llm.answer = () => {
      begun += 1;
      return never;
    };
    const other = new Api(stage.parley.url, bob.headers);
    const leaving = [new AbortController(), new AbortController()];
    const open = leaving.map(({ signal }) =>
      fetch(`${stage.parley.url}/api/models/test`, {
        method: 'POST',
        headers: { ...bob.headers, 'content-type': 'application/json' },
        body: JSON.stringify(model()),
        signal,
      }).catch(() => undefined),
    );
    await until(() => begun === 2, { what: 'two tests to reach the model' });
    const refused = await other.call('POST', '/models/test', model());
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5']);
    llm.answer = () => 'ok';
    expect((await tried()).ok).toBe(true);
    for (const it of leaving) it.abort();
    await Promise.all(open);
    await until(async () => (await other.call('POST', '/models/test', model())).status === 200, {
      what: 'the place of a client that left to be free',
    });
  });
});
