import { besides } from '../../support/beside.js';
import { type Flood, FloodingAgent, gzipBomb } from '../../support/flooding-agent.js';
import { useStage } from '../../support/stage.js';
import { takeTurns } from '../../support/turns.js';
import { untilReady } from '../../support/until-ready.js';
import { external, linear, says, script, unique } from '../../support/workflow.js';

takeTurns();

const stage = useStage({ env: { NODE_OPTIONS: '--max-old-space-size=256' } });
const GIGABYTE = 1024 ** 3;
const MEGABYTE = 1024 ** 2;
let agent: FloodingAgent;
let other: string;

beforeAll(async () => {
  agent = await FloodingAgent.start();
  stage.defer(() => agent.stop());
  const { name } = await stage.api.save(linear(unique('other'), script('a', ...says('here'))));
  other = stage.api.base(name, 'a');
});

afterEach(async () => {
  expect(stage.parley.running()).toBe(true);
  await untilReady(stage.parley);
  expect(stage.parley.logs()).not.toMatch(/"level":"(error|fatal)"/);
});

const sse: Flood = async (response) =>
  void response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
const JSON_HEAD = { 'content-type': 'application/json' };

const oneAnswer: Flood = async (response, id) => {
  response.writeHead(200, JSON_HEAD);
  await agent.write(response, `{"jsonrpc":"2.0","id":${String(id)},"result":{"message":{"parts":[{"text":"`);
  await agent.fill(response, GIGABYTE);
};

const announcedAnswer: Flood = async (response) => {
  response.writeHead(200, { ...JSON_HEAD, 'content-length': GIGABYTE });
  await agent.fill(response, GIGABYTE);
};

const bomb: Flood = (response, id) =>
  gzipBomb(response, `{"jsonrpc":"2.0","id":${String(id)},"result":{"message":{"parts":[{"text":"`);

const manyMembers: Flood = async (response, id) => {
  const elements = '[],'.repeat(600_000);
  response.writeHead(200, JSON_HEAD);
  response.end(`{"jsonrpc":"2.0","id":${String(id)},"result":{"message":{"parts":[{"data":[${elements}0]}]}}}`);
};

const giantFrame: Flood = async (response, id) => {
  await sse(response, id);
  await agent.write(response, `data: {"jsonrpc":"2.0","id":${String(id)},"result":`);
  await agent.fill(response, GIGABYTE);
};

const endlessComment: Flood = async (response, id) => {
  await sse(response, id);
  await agent.write(response, ': ');
  await agent.fill(response, GIGABYTE);
};

const linesWithoutEnd: Flood = async (response, id) => {
  await sse(response, id);
  await agent.fill(response, GIGABYTE, 'data: x\n'.repeat(8_192));
};

/** Chunks of one Artifact, or of ever new ones, in events that are each short enough. */
function chunks(legacy: boolean, artifactId: (index: number) => string, text: string): Flood {
  return async (response, id) => {
    await sse(response, id);
    for (let index = 0; ; index += 1) {
      const artifact = { artifactId: artifactId(index), parts: [legacy ? { kind: 'text', text } : { text }] };
      const update = { taskId: 'far-task', contextId: 'far-context', artifact, append: index > 0 };
      const result = legacy ? { kind: 'artifact-update', ...update } : { artifactUpdate: update };
      await agent.write(response, `data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`);
    }
  };
}

const large = 'x'.repeat(MEGABYTE);
const SAME = (): string => 'same';

/** What the answer was refused for; the node's own limit of time is no answer. */
async function refusal(): Promise<string> {
  const workflow = linear(unique('flood'), external('far', agent.url, { timeout: 600 }));
  await stage.api.save(workflow);
  const ending = stage.api.start(workflow.name).then((runId) => stage.api.ended(runId));
  await besides(other, ending);
  const run = await ending;
  expect(run).toMatchObject({ status: 'failed', error: { node: 'far' } });
  return run.error?.message.replace(agent.url, 'URL') ?? '';
}

const because = (what: string): string => `node "far": external agent call to URL: ${what}`;
const TOO_LONG = because('the answer is longer than 16777216 bytes (twice BODY_LIMIT, at least 16 MiB)');
const EVENT_TOO_LONG = because(
  'an event of the stream is longer than 16777216 characters (twice BODY_LIMIT, at least 16 MiB)',
);
const TOO_MANY = because('the answer has more than 50000 members and elements (JSON_MEMBERS_LIMIT)');
const ARTIFACT = because('an artifact of the agent has more than 33554432 characters (ARTIFACT_LIMIT)');
const TASK = because("the agent's answer has more than 67108864 characters (TASK_LIMIT)");

describe('an agent elsewhere that answers without end', () => {
  it.each<[string, Flood, string]>([
    ['one answer of a gigabyte', oneAnswer, TOO_LONG],
    ['a gigabyte that it announces', announcedAnswer, TOO_LONG],
    ['a gzip bomb', bomb, TOO_LONG],
    ['600,000 empty lists', manyMembers, TOO_MANY],
    ['one event of a gigabyte', giantFrame, EVENT_TOO_LONG],
    ['a comment without end', endlessComment, EVENT_TOO_LONG],
    ['lines of one event without end', linesWithoutEnd, EVENT_TOO_LONG],
    ['chunks of one artifact', chunks(false, SAME, large), ARTIFACT],
    ['tiny chunks of one artifact', chunks(false, SAME, 'x'), ARTIFACT],
    ['ever new artifacts', chunks(false, String, large), TASK],
  ])('%s', async (_what, flood, fault) => {
    agent.flood(flood);
    expect(await refusal()).toBe(fault);
    expect(agent.written).toBeLessThan(256 * MEGABYTE);
  });

  it.each<[string, Flood, string]>([
    ['one answer of a gigabyte', oneAnswer, TOO_LONG],
    ['600,000 empty lists', manyMembers, TOO_MANY],
    ['chunks of one artifact', chunks(true, SAME, large), ARTIFACT],
  ])('of A2A 0.3: %s', async (_what, flood, fault) => {
    agent.flood(flood, { legacy: true });
    expect(await refusal()).toBe(fault);
    expect(agent.written).toBeLessThan(256 * MEGABYTE);
  });

  it.each<[string, Flood, string]>([
    ['a gigabyte', oneAnswer, 'longer than'],
    ['a gzip bomb', bomb, 'longer than'],
    ['a million members', manyMembers, 'JSON_MEMBERS_LIMIT'],
  ])('a card of %s', async (_what, card, fault) => {
    agent.flood(oneAnswer, { card });
    expect(await refusal()).toContain(fault);
  });

  it('in a conversation', async () => {
    agent.flood(chunks(false, SAME, large));
    const talk = { target: agent.url, message: 'go on' };
    const began = await stage.api.call<{ conversationId: string }>('POST', '/conversations', talk);
    expect(began.status).toBe(202);
    const { conversationId } = began.body;
    const frames = await stage.api.call('GET', `/conversations/${conversationId}/events`);
    expect(frames.text).toContain('an artifact of the agent has more than 33554432 characters (ARTIFACT_LIMIT)');
    await besides(other, Promise.resolve());
  });

  it('at the node route', async () => {
    agent.flood(chunks(false, SAME, large));
    const workflow = await stage.api.save(linear(unique('flood'), external('far', agent.url, { timeout: 600 })));
    const { sendTask } = await import('../../support/a2a.js');
    const task = await sendTask(stage.api.base(workflow.name, 'far'), 'go on');
    expect(task.status).toMatchObject({
      state: 'TASK_STATE_FAILED',
      message: { parts: [{ text: expect.stringContaining('(ARTIFACT_LIMIT)') }] },
    });
  });
});
