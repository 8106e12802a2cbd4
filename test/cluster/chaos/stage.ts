import type { JsonObject } from '#libs/protocol';
import { FakeAgent, type FakeCall } from '../../support/fake-agent.js';
import type { FakeBehaviour } from '../../support/fake-behaviour.js';
import { range } from '../../support/sse.js';
import { type Api, echo, external, input, linear, output, ruled, script } from '../../support/workflow.js';

const NODE_MS = 120;

/** Workflows and agents that the load uses: names, paths below `/a2a`, and remote agents that log every Message. */
export interface Stage {
  /** Name of a workflow with ten nodes. */
  run: string;
  /** Name of a workflow whose runs are parked for a while. */
  parked: string;
  /** Path of an agent that answers with many events. */
  talkative: string;
  /** Path of an agent that asks twice before it completes. */
  patient: string;
  /** Path of an agent that takes half a second. */
  slow: string;
  /** Path of an agent that answers at once. */
  quick: string;
  /** Path of an agent whose model takes some time. */
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

/**
 * Creates ten nodes in two branches that meet: remote agents that answer without a stream, remote agents that stream,
 * and local nodes.
 */
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

/** Creates nodes that ask a person who never answers, and then call an agent once. */
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
