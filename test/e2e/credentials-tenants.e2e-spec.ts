import { keepCredential, newSecret } from '../support/credentials.js';
import { IdentityProvider } from '../support/identity-provider.js';
import { useStage } from '../support/stage.js';
import { Api, external, linear, unique } from '../support/workflow.js';

const env: Record<string, string> = {};
let provider: IdentityProvider;

beforeAll(async () => {
  provider = await IdentityProvider.start();
  Object.assign(env, provider.env());
});

const stage = useStage({ env });

afterAll(() => provider.stop());

async function admin(org: string): Promise<Api> {
  const scope = 'agents workflows admin';
  return new Api(stage.parley.url, await provider.headers({ sub: 'ann', org, scope }));
}

it('is the credential of the tenant whose run it is, and nobody else sees it', async () => {
  const [acme, other] = [await admin('acme'), await admin('other')];
  const agent = await stage.fake();
  const secrets = { acme: newSecret(), other: newSecret() };
  const name = await keepCredential(acme, { kind: 'api-key', value: secrets.acme });
  expect((await other.call('GET', `/credentials/${name}`)).status).toBe(404);
  expect((await other.call('GET', '/credentials')).body).toMatchObject({ credentials: [] });
  expect((await other.call('PUT', `/credentials/${name}`, { kind: 'api-key', value: 'x' })).status).toBe(404);
  expect((await other.call('DELETE', `/credentials/${name}`)).status).toBe(404);

  const workflow = linear(unique('w'), external('e', agent.url, { auth: name }));
  const unknown = await other.finish(workflow);
  expect(unknown.nodes.e?.error).toContain(`there is no credential "${name}"`);
  expect(agent.sends).toEqual([]);
  const own = { name, kind: 'api-key', value: secrets.other };
  expect((await other.call('POST', '/credentials', own)).status).toBe(201);
  expect((await acme.finish(workflow)).status).toBe('completed');
  expect((await other.ended(await other.start(workflow.name))).status).toBe('completed');
  expect(agent.sends.map(({ headers }) => headers['x-api-key'])).toEqual([secrets.acme, secrets.other]);
  // What one tenant's workflow names keeps only its own from being deleted.
  expect((await acme.call('DELETE', `/workflows/${workflow.name}`)).status).toBe(204);
  expect((await acme.call('DELETE', `/credentials/${name}`)).status).toBe(204);
  expect((await other.call('DELETE', `/credentials/${name}`)).status).toBe(409);
});
