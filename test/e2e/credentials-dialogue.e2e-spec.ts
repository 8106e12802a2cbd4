import type { JsonObject } from '#libs/protocol';
import { BrainstormApi, transforms } from '../support/brainstorm.js';
import { Talks } from '../support/conversation.js';
import { keepCredential, newSecret } from '../support/credentials.js';
import type { FakeAgent } from '../support/fake-agent.js';
import { answers } from '../support/fake-behaviour.js';
import { useSharedStage } from '../support/shared-stage.js';
import { linear, unique } from '../support/workflow.js';

const stage = useSharedStage();
let talks: Talks;
let brainstorms: BrainstormApi;

beforeAll(() => {
  talks = new Talks(stage.api);
  brainstorms = new BrainstormApi(stage.api);
});

/** An agent that lets in whoever has a key, and the credential for it. */
async function guarded(hosts = true): Promise<{ agent: FakeAgent; auth: string }> {
  const value = newSecret();
  const agent = await stage.fake({ admits: ({ headers }) => headers['x-api-key'] === value });
  const auth = await keepCredential(stage.api, { kind: 'api-key', value, ...(hosts && { hosts: [agent.url] }) });
  return { agent, auth };
}

describe('a conversation', () => {
  it('calls each side, and who is told the end, with their own credential', async () => {
    const [one, two, three] = [await guarded(), await guarded(), await guarded()];
    one.agent.always(answers('from one'));
    two.agent.always(answers('from two'));
    const id = await talks.start({
      requester: one.agent.url,
      target: two.agent.url,
      announce: three.agent.url,
      message: 'hello',
      maxTurns: 1,
      auth: { requester: one.auth, target: two.auth, announce: three.auth },
    });
    const ended = await talks.reached(id, ({ announcement }) => announcement !== undefined);
    expect(ended.turns.map(({ text }) => text)).toEqual(['hello', 'from two', 'from one']);
    expect(ended.announcement).toBe('delivered');
  });

  it('needs a credential that names its hosts: any caller may name any agent', async () => {
    const { agent, auth } = await guarded(false);
    const ended = await talks.ended(await talks.start({ target: agent.url, message: 'x', auth: { target: auth } }));
    expect(ended.error).toMatchObject({ code: 'CREDENTIAL_UNUSABLE', retryable: false });
    expect(ended.error?.message).toContain('it names no hosts');
    expect(agent.sends).toEqual([]);
  });

  it('says that an agent does not accept who calls', async () => {
    const { agent } = await guarded();
    const ended = await talks.ended(await talks.start({ target: agent.url, message: 'x' }));
    expect(ended.error).toMatchObject({ code: 'AGENT_REFUSED_CALLER', retryable: false });
    expect(agent.sends).toHaveLength(1);
  });

  it.each([
    [{ target: 'no name' }, 'auth.target'],
    [{ target: 3 }, 'auth.target'],
    [{ requester: 'cred' }, 'auth.requester'],
    [{ somebody: 'cred' }, 'auth.somebody'],
    ['cred', 'auth'],
  ])('refuses the auth %j', async (auth, path) => {
    const reply = await talks.post({ target: 'http://127.0.0.1:9', message: 'x', auth });
    expect(reply.status).toBe(400);
    expect(reply.body).toMatchObject({ errors: [{ path }] });
  });
});

describe('a brainstorm', () => {
  it('calls its agents with their credentials', async () => {
    const [one, two] = [await guarded(), await guarded()];
    for (const { agent } of [one, two]) agent.always(transforms());
    const listed = [one, two].map(({ agent, auth }) => ({ agent: agent.url, auth }));
    const reply = await brainstorms.post({ idea: 'an idea', agents: listed, maxIterations: 1 });
    expect(reply.status).toBe(202);
    expect((await brainstorms.rested(reply.body.brainstormId)).status).toBe('converged');
  });

  it('refuses one for an agent of this service', async () => {
    const agents = [
      { agent: 'workflow', auth: 'cred' },
      { agent: 'http://127.0.0.1:9', auth: 'no name' },
    ];
    const reply = await brainstorms.post({ idea: 'an idea', agents });
    expect(reply.status).toBe(422);
    expect(reply.text).toContain('agents[0].auth');
    expect(reply.text).toContain('agents[1].auth');
  });
});

it('is not deleted while a node of either kind names it', async () => {
  const { agent, auth } = await guarded();
  const conversation: JsonObject = { target: agent.url, message: 'x', auth: { target: auth } };
  const other = { agent: agent.url };
  const naming: [type: string, config: JsonObject][] = [
    ['conversation', conversation],
    ['brainstorm', { agents: [{ agent: agent.url, auth }, other] }],
    ['brainstorm', { agents: [{ agent: agent.url, credential_ref: auth }, other] }],
  ];
  for (const [type, config] of naming) {
    const workflow = await stage.api.save(linear(unique('w'), { id: 'n', type, config }));
    const refused = await stage.api.call('DELETE', `/credentials/${auth}`);
    expect(refused.status).toBe(409);
    expect(refused.text).toContain(workflow.name);
    await stage.api.call('DELETE', `/workflows/${workflow.name}`);
  }
  expect((await stage.api.call('DELETE', `/credentials/${auth}`)).status).toBe(204);
});
