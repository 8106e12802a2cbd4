import type { JsonObject } from '#libs/protocol';
import { FakeAgent, type FakeCall } from '../../support/fake-agent.js';
import type { FakeBehaviour } from '../../support/fake-behaviour.js';
import { range } from '../../support/sse.js';
import { type Api, echo, external, input, linear, output, ruled, script } from '../../support/workflow.js';

const NODE_MS = 120;

/** What the load works with: workflows, agent paths below `/a2a`, and agents outside that log every Message they get. */
export interface Stage {
  /** The name of a workflow of ten nodes. */
  run: string;
  /** The name of one whose runs nobody holds for a while. */
  parked: string;
  /** An agent that answers in many events. */
  talkative: string;
  /** An agent that asks twice before it completes. */
  patient: string;
  /** An agent that takes half a second. */
  slow: string;
  /** An agent that answers at once. */
  quick: string;
  /** An agent that asks a model which takes its time. */
  thoughtful: string;
  agents: FakeAgent[];
}

export async function setStage(api: Api): Promise<Stage> {
  const agents = await Promise.all([FakeAgent.start(), FakeAgent.start({ streaming: true })]);
  for (const agent of agents) agent.always(slowly);
  const [whole, streaming] = agents;
  await api.save({ name: 'run', ...tenNodes(whole?.url ?? '', streaming?.url ?? '') });
  await api.save({ name: 'parked', ...unanswered(whole?.url ?? '') });
  const chunks = range(1, 40).flatMap((n): JsonObject[] => [
    { artifact: { artifactId: 'out', parts: [{ text: `${n} ` }], ...(n > 1 && { append: true }) } },
    ...(n % 4 === 0 ? [{ sleep: 50 }] : []),
  ]);
  const ask = (turn: number): JsonObject => ({
    when: { turn, text: `turn ${turn}` },
    steps: [{ status: 'working' }, { sleep: NODE_MS }, { ask: 'and then?' }],
  });
  const bye: JsonObject = {
    when: { turn: 3 },
    steps: [{ status: 'working' }, { sleep: NODE_MS }, { complete: 'bye' }],
  };
  await api.save(linear('talk', script('talkative', { status: 'working' }, ...chunks, { complete: 'done' })));
  await api.save(linear('ask', ruled('patient', [ask(1), ask(2), bye], [{ fail: 'the history is not whole' }])));
  await api.save(linear('work', script('slow', { status: 'working' }, { sleep: 500 }, { complete: 'done' })));
  await api.save(linear('say', script('quick', { complete: 'hello' })));
  await api.save(linear('think', echo('thinker')));
  const at = (workflow: string, node: string) => `workflows/${workflow}/nodes/${node}`;
  return {
    run: 'run',
    parked: 'parked',
    talkative: at('talk', 'talkative'),
    patient: at('ask', 'patient'),
    slow: at('work', 'slow'),
    quick: at('say', 'quick'),
    thoughtful: at('think', 'thinker'),
    agents,
  };
}

/** Agents that answer whole, agents that stream, and own nodes, in two branches that meet. */
function tenNodes(whole: string, streaming: string) {
  const own = (id: string) => script(id, { status: 'working' }, { sleep: NODE_MS }, { complete: id });
  const called = (id: string, url: string) => external(id, url, { prompt: `${id} of {{in}}`, timeout: 120 });
  const edges = ['in>w1', 'w1>s1', 's1>w2', 'w2>s2', 'in>o1', 'o1>o2', 'o2>o3', 's2>join', 'o3>join', 'join>out'];
  return {
    nodes: [
      input('in'),
      ...['w1', 'w2'].map((id) => called(id, whole)),
      ...['s1', 's2'].map((id) => called(id, streaming)),
      ...['o1', 'o2', 'o3'].map(own),
      echo('join', { prompt: '{{w2}} and {{s2}}' }),
      output('out'),
    ],
    edges: edges.map((edge) => {
      const [from = '', to = ''] = edge.split('>');
      return { from, to };
    }),
  };
}

/** Asks somebody who never answers, and goes on with an agent that is called once. */
function unanswered(url: string) {
  const onWait = { deadline: '2s', default: 'nobody' };
  const gate = { id: 'gate', type: 'human', config: { prompt: '{{in}}?' }, onWait };
  const nodes = [input('in'), gate, external('after', url, { prompt: 'after {{gate}}', timeout: 120 })];
  const edges = [
    { from: 'in', to: 'gate' },
    { from: 'gate', to: 'after' },
  ];
  return { nodes, edges };
}

function slowly({ text }: FakeCall): FakeBehaviour {
  return {
    steps: [
      { status: 'TASK_STATE_WORKING' },
      { sleep: NODE_MS },
      { artifact: { parts: [{ text: `did ${text}` }] } },
      { status: 'TASK_STATE_COMPLETED' },
    ],
  };
}
