import { ProblemError, readBody } from '#libs/http-server';
import { disagreements } from '../../../../test/support/documented-body.js';
import { brainstormProblems } from '../requested-brainstorm.js';
import { BrainstormBody, wantedOf } from './brainstorm-body.js';

const URL_OF_AGENT = 'http://agent.test/a2a';
const AGENT = { agent: URL_OF_AGENT, name: 'ann', role: 'build', provider: 'p', model: 'm', skills: ['data'] };
const SAMPLE = {
  idea: 'A library that lends tools',
  agents: [{ ...AGENT, auth: 'mine' }, { agent: URL_OF_AGENT }],
  maxIterations: 2,
  systemPrompt: 'You develop an idea.',
  llmConfig: { provider: 'p', model: 'm', credential_ref: 'mine', temperature: 1, max_tokens: 10 },
  timeoutMs: 1_000,
};

/**
 * Returns the paths of the problems for which a body is refused: problems of its form or, if there are none, of its
 * values.
 */
function refused(body: object): string[] {
  try {
    return brainstormProblems(wantedOf(readBody(BrainstormBody, body))).map(({ path }) => path);
  } catch (error) {
    return error instanceof ProblemError ? error.errors.map(({ path }) => path) : [`${error}`];
  }
}

describe('BrainstormBody', () => {
  it('is documented to allow what is taken, and nothing else', async () => {
    expect(refused(SAMPLE)).toEqual([]);
    expect(await disagreements(BrainstormBody, { sample: SAMPLE, refused })).toEqual([]);
  });

  it('takes null for left out, at every place', () => {
    const gaps = {
      name: null,
      role: null,
      provider: null,
      model: null,
      credential_ref: null,
      auth: null,
      skills: null,
    };
    const agents = [{ agent: URL_OF_AGENT, ...gaps }, { agent: URL_OF_AGENT }];
    const models = { provider: null, model: null, credential_ref: null, temperature: null, max_tokens: null };
    const given = { idea: 'x', agents, maxIterations: null, systemPrompt: null, timeoutMs: null };
    const bare = { idea: 'x', agents: [{ agent: URL_OF_AGENT }, { agent: URL_OF_AGENT }], llmConfig: {} };
    for (const llmConfig of [models, null]) {
      expect(refused({ ...given, llmConfig })).toEqual([]);
      expect(wantedOf(readBody(BrainstormBody, { ...given, llmConfig }))).toEqual(bare);
    }
  });
});
