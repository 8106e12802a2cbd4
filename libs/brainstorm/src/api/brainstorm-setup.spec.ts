import { type RequestSigners, UNUSABLE_CREDENTIAL } from '#libs/a2a-client';
import type { AgentCatalog } from '#libs/agents';
import { brainstormProblems, type RequestedBrainstorm } from '../requested-brainstorm.js';
import { CredentialSetup } from './brainstorm-setup.js';

/** Hosts of the credentials of the tenant `t`, by name. */
const HOSTS: Record<string, string[]> = {
  model: ['https://model.test'],
  both: ['https://model.test', 'https://agent.test'],
  agent: ['https://agent.test'],
  bare: [],
};

const signers: Pick<RequestSigners, 'reachesOrigins'> = {
  reachesOrigins: async ({ credential, tenant }, origins) =>
    tenant === 't' && origins.some((origin) => HOSTS[credential]?.includes(origin)),
};

/** Catalog in which the agents `workflows/w/nodes/*` call a model, and all other agents call none. */
const catalog = {
  inTenant: () => ({
    resolveAgent: async (path: string) => ({
      executor: path.includes('/nodes/') ? { modelOrigins: async () => ['https://model.test'] } : {},
    }),
  }),
} as unknown as AgentCatalog;

const setup = new CredentialSetup(signers as RequestSigners, catalog);
const [OWN, WORKFLOW, ELSEWHERE] = ['workflows/w/nodes/a', 'workflows/w', 'https://agent.test/a2a'];

/** Returns the usable credentials of each agent, and the problems of the unusable ones. */
async function settled(agents: [agent: string, ref?: string][], all?: string, tenant = 't') {
  const wanted: RequestedBrainstorm = {
    idea: 'x',
    agents: agents.map(([agent, ref]) => ({ agent, ...(ref !== undefined && { credential_ref: ref }) })),
    ...(all !== undefined && { llmConfig: { credential_ref: all } }),
  };
  const { problems, credentials } = await setup.settleCredentials(wanted, tenant);
  for (const { detail } of problems) expect(detail).toBe(UNUSABLE_CREDENTIAL);
  return { credentials, paths: problems.map(({ path }) => path) };
}

describe('CredentialSetup', () => {
  it('takes that of the brainstorm first, for the agents that can use it, then that of the agent', async () => {
    const agents: [string, string?][] = [[OWN, 'both'], [ELSEWHERE, 'agent'], [OWN]];
    expect(await settled(agents, 'model')).toEqual({
      credentials: [['model', 'both'], ['agent'], ['model']],
      paths: [],
    });
    expect((await settled(agents)).credentials).toEqual([['both'], ['agent'], []]);
  });

  it.each(['PATH', 'HOME', 'NO_SUCH_VARIABLE', 'bare', 'agent'])(
    'refuses %s for an agent that cannot use it',
    async (name) => {
      expect((await settled([[OWN, name], [OWN]])).paths).toEqual(['agents[0].credential_ref']);
    },
  );

  it('refuses that of the brainstorm where no agent can use it', async () => {
    expect((await settled([[OWN], [WORKFLOW]], 'agent')).paths).toEqual(['llmConfig.credential_ref']);
    expect((await settled([[OWN], [ELSEWHERE]], 'agent')).paths).toEqual([]);
  });

  it('refuses one for an agent that asks no model itself, and one of another tenant', async () => {
    expect((await settled([[WORKFLOW, 'model'], [OWN]])).paths).toEqual(['agents[0].credential_ref']);
    expect((await settled([[OWN, 'model'], [OWN]], undefined, 'u')).paths).toEqual(['agents[0].credential_ref']);
  });
});

describe('brainstormProblems', () => {
  const problemsOf = (more: object): string[] =>
    brainstormProblems({ idea: 'x', agents: [{ agent: ELSEWHERE, ...more }, { agent: ELSEWHERE }] }).map(
      ({ path }) => path,
    );

  it('refuses another credential beside auth, and takes the same', () => {
    expect(problemsOf({ auth: 'agent', credential_ref: 'both' })).toEqual(['agents[0].credential_ref']);
    expect(problemsOf({ auth: 'agent', credential_ref: 'agent' })).toEqual([]);
  });

  it('says nothing else of a name that can be none', () => {
    const [problem] = brainstormProblems({
      idea: 'x',
      agents: [{ agent: OWN }, { agent: OWN }],
      llmConfig: { credential_ref: 'a b' },
    });
    expect(problem).toEqual({ path: 'llmConfig.credential_ref', detail: UNUSABLE_CREDENTIAL });
  });
});
