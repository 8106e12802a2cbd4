import type { JsonObject } from '#libs/protocol';
import { outline, rest, rpc, sendParams, stream } from '../../support/a2a.js';
import { BrainstormApi } from '../../support/brainstorm.js';
import { FakeLlm } from '../../support/fake-llm.js';
import { startParley } from '../../support/parley.js';
import { freshDatabase, type TestDatabase } from '../../support/postgres.js';
import { Api } from '../../support/workflow.js';
import { AgentProcess } from './agent-process.js';

const STATE = {
  idea: 'A shared garden calendar',
  architecture: '',
  execution_plan: [],
  risks: [],
  assumptions: [],
  open_questions: [],
  metrics: { confidence: 0 },
  meta: { iteration: 1, agents: [] },
};

const payload = (fields: JsonObject = {}) => [
  {
    data: {
      role: 'build',
      systemPrompt: 'Build.',
      llmConfig: { provider: 'parley', model: 'm-1' },
      state: STATE,
      ...fields,
    },
  },
];

describe('the stand-alone agent for brainstorms', () => {
  const databases: TestDatabase[] = [];
  const ends: (() => unknown)[] = [];

  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
    for (const database of databases.splice(0)) await database.drop();
  });

  async function start(role: string, env: Record<string, string> = {}): Promise<string> {
    const database = await freshDatabase();
    databases.push(database);
    const agent = AgentProcess.spawn(['--role', role], database.url, env);
    ends.push(() => agent.signal('SIGKILL'));
    return `${await agent.ready()}/a2a`;
  }

  it('J6 exactly four events: the Task, WORKING, an Artifact with the state as data, COMPLETED', async () => {
    const url = await start('build');
    const frames = await (await stream(url, payload())).all();
    const events = frames.map(({ data }) => data.result);
    expect(events.map((event) => outline(event).replace(/\{.*/, 'state'))).toEqual([
      'task TASK_STATE_SUBMITTED',
      'status TASK_STATE_WORKING',
      'artifact state',
      'status TASK_STATE_COMPLETED',
    ]);
    const made = events[2] as unknown as { artifactUpdate: { artifact: { parts: { data: typeof STATE }[] } } };
    expect(made.artifactUpdate.artifact.parts).toEqual([
      { data: expect.objectContaining({ idea: STATE.idea, meta: STATE.meta }), mediaType: 'application/json' },
    ]);
    expect(made.artifactUpdate.artifact.parts[0]?.data.execution_plan.length).toBeGreaterThan(2);
    const card = await rest(url, 'GET', '/.well-known/agent-card.json');
    expect(card.body).toMatchObject({ name: 'build', skills: [{ tags: ['brainstorm', 'build'] }] });
  });

  it.each([
    ['no state', payload({ state: 7 }), 'data.state'],
    ['a state that is none', payload({ state: { ...STATE, risks: 'many' } }), 'risks'],
    ['a role that is none', payload({ role: 'chief' }), 'data.role'],
    ['a temperature that is none', payload({ llmConfig: { temperature: 3 } }), 'data.llmConfig.temperature'],
    ['a token limit that is none', payload({ llmConfig: { max_tokens: 0 } }), 'data.llmConfig.max_tokens'],
    ['text', [{ text: 'hello' }], 'message.parts'],
  ])('refuses %s by name', async (_, parts, field) => {
    const url = await start('review');
    const { body } = await rpc(url, 'SendMessage', sendParams(parts));
    expect(body.error).toMatchObject({ code: -32602, message: expect.stringContaining(field) });
  });

  it('asks a model where there is one; what that says and is no state fails the Task', async () => {
    const llm = await FakeLlm.start();
    ends.push(() => llm.stop());
    llm.answer = () => `Here you are:\n\`\`\`json\n${JSON.stringify({ ...STATE, architecture: 'Beds' })}\n\`\`\``;
    const url = await start('build', { LLM_BASE_URL: llm.url, LLM_MODEL: 'm-default' });
    const { body } = await rpc(url, 'SendMessage', sendParams(payload()));
    expect(body.result).toMatchObject({ task: { artifacts: [{ parts: [{ data: { architecture: 'Beds' } }] }] } });
    expect(llm.calls[0]?.body).toMatchObject({
      model: 'm-1',
      messages: [
        { role: 'system', content: expect.stringMatching(/^Build\.\n\nAnswer with one JSON document/) },
        { content: JSON.stringify(STATE) },
      ],
    });
    llm.answer = () => JSON.stringify(STATE);
    const ways = { model: 'm-1', temperature: 0.2, max_tokens: 500 };
    await rpc(url, 'SendMessage', sendParams(payload({ llmConfig: { provider: 'openai-compatible', ...ways } })));
    expect(llm.calls[1]?.body).toMatchObject(ways);
    const foreign = await rpc(url, 'SendMessage', sendParams(payload({ llmConfig: { ...ways, provider: 'other' } })));
    expect(JSON.stringify(foreign.body.result)).toContain('this agent has no provider \\"other\\"');
    const before = llm.calls.length;
    llm.answer = () => ({ text: '{"idea":', reason: 'length' });
    const cut = await rpc(url, 'SendMessage', sendParams(payload()));
    const words = [{ text: expect.stringContaining('was cut at its token limit') }];
    expect(cut.body.result).toMatchObject({
      task: { status: { state: 'TASK_STATE_FAILED', message: { parts: words } } },
    });
    expect(llm.calls).toHaveLength(before + 1);
    llm.answer = () => 'I would rather not.';
    const failed = await rpc(url, 'SendMessage', sendParams(payload()));
    expect(failed.body.result).toMatchObject({
      task: {
        status: { state: 'TASK_STATE_FAILED', message: { parts: [{ text: expect.stringContaining('not a state') }] } },
      },
    });
  });

  it('J9 four of them develop an idea until they agree', async () => {
    const database = await freshDatabase();
    databases.push(database);
    const parley = await startParley({ databaseUrl: database.url });
    ends.push(() => parley.stop());
    const roles = ['build', 'review', 'refine', 'devils_advocate'];
    const agents = await Promise.all(roles.map(async (role) => ({ agent: await start(role) })));
    const ended = await new BrainstormApi(new Api(parley.url)).finish(agents, { idea: STATE.idea });
    expect(ended.status).toBe('converged');
    expect(ended.convergence).toMatch(/^Converged in iteration \d: no new critical risk, a plan of \d+ steps/);
    expect(ended.state.architecture).toContain(STATE.idea);
    expect(new Set(Object.values(ended.provenance).map(({ role }) => role)).size).toBeGreaterThan(1);
  });
});
