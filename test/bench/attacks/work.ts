import { aborted, ask, type Attack, cancelRuns, messageCall, repeat, startRun, type Target } from './attack.ts';
import { COSTLY_ANSWERS, COSTLY_CARDS } from './costly-shapes.ts';
import { MODEL } from './hostile-model.ts';

const ENTRIES = 10_000;
const LEVELS = 5;
const CHILDREN = 8;
const COSTLY_RUNS = 10;
const COSTLY_ENTRIES = 440;
/** Expression whose evaluation for each entry takes all permitted steps. */
const COSTLY = '${size(inputs.list.map(a, inputs.list.map(b, a * b + a - b + a * 2)))}';
const LARGE = 60_000;
const LEAF = { name: 'leaf', nodes: [{ id: 'result', type: 'output', config: { prompt: 'done' } }], edges: [] };

/** Starts one run with ten thousand child runs, and one with nested lists. */
export const runTrees: Attack = async (target, signal) => {
  await save(target, LEAF);
  await save(target, callingEach('list', 'leaf', 'inputs.entries', ENTRIES, true));
  let called = 'leaf';
  const items = JSON.stringify(Array.from({ length: CHILDREN }, (_, index) => index));
  for (let level = 0; level < LEVELS; level += 1) {
    await save(target, callingEach(`level-${level}`, called, items, CHILDREN, false));
    called = `level-${level}`;
  }
  const entries = Array.from({ length: ENTRIES }, (_, index) => index);
  const runs = await Promise.all([startRun(target, 'list', { entries }), startRun(target, called, {})]);
  await aborted(signal);
  await cancelRuns(target, runs);
};

/** Starts runs whose expressions take all permitted steps, for one entry of a list after the other. */
export const costlyExpressions: Attack = async (target, signal) => {
  const each = { items: 'inputs.list', concurrency: 1, onFailure: 'collect' };
  const list = { id: 'list', type: 'input', config: { schema: { type: 'array' } } };
  const nodes = [list, { id: 'n', type: 'set', config: { values: { n: COSTLY } }, each }];
  await save(target, { language: 2, name: 'costly', nodes, edges: [{ from: 'list', to: 'n' }] });
  const inputs = { list: Array.from({ length: COSTLY_ENTRIES }, (_, index) => index) };
  const runs = await Promise.all(Array.from({ length: COSTLY_RUNS }, () => startRun(target, 'costly', inputs)));
  await aborted(signal);
  await cancelRuns(target, runs);
};

/** Saves workflow definitions of the maximum size until they are refused, and requests everything that shows them. */
export const largeDefinitions: Attack = async (target, signal) => {
  let saved = 0;
  const text = (letter: string): string => letter.repeat(LARGE);
  await repeat(signal, 4, async () => {
    saved += 1;
    const schema = { type: 'string', description: text('s') };
    const inputs = ['topic', 'style', 'length'].map((id) => ({ id, type: 'input', config: { schema } }));
    const nodes = [...inputs, { id: 'writer', type: 'agent', config: { prompt: text('p') } }];
    await save(target, { name: `large-${saved}`, nodes, edges: [{ from: 'topic', to: 'writer' }] });
    for (const path of ['/.well-known/agent-card.json', '/a2a/agents?pageSize=1000', '/api/workflows'])
      await ask(target, path, undefined, signal);
  });
};

/** Routes that read bodies. Every second entry is the route that reads most of a body. */
const SURFACES = ['expressions/check', 'conversations', 'brainstorms', 'mcp-servers', 'models', 'credentials', 'apply']
  .concat('agent-messages', 'workflows')
  .flatMap((path) => ['/api/workflows/check', `/api/${path}`])
  .concat('/mcp', '/a2a/workflows/echo');

/** Sends bodies that are expensive to read: deeply nested, with many members, or with an invalid number. */
export const oddBodies: Attack = async (target, signal) => {
  const deep = `${'['.repeat(40_000)}${']'.repeat(40_000)}`;
  const bodies = [
    `{"name":"x","nodes":${deep},"edges":[1e999]}`,
    `{"name":"x","nodes":[${'{"a":1},'.repeat(40_000)}{}],"edges":[]}`,
    JSON.stringify({
      name: 'x',
      nodes: [{ id: 'a', type: 'agent', config: { prompt: '${'.repeat(1_900_000) } }],
      edges: [],
    }),
    JSON.stringify({
      name: 'x',
      nodes: [{ id: 'a', type: 'agent', config: { prompt: '\\'.repeat(1_900_000) } }],
      edges: [],
    }),
  ];
  let turn = 0;
  await repeat(signal, 2, async () => {
    turn += 1;
    const surface = SURFACES[Math.floor(turn / bodies.length) % SURFACES.length];
    await fetch(`${target.url}${surface}`, {
      method: 'POST',
      headers: { ...target.headers, 'content-type': 'application/json' },
      body: bodies[turn % bodies.length]!,
      signal,
    })
      .then((answer) => answer.text())
      .catch(() => undefined);
  });
};

/**
 * Calls agents whose cards, answers or models' tools are expensive to read: from nodes, directly, and by previews of
 * their cards.
 */
export const costlyAgents: Attack = async (target, signal) => {
  const cards = COSTLY_CARDS.map((_, place) => `card-${place}`);
  const answers = COSTLY_ANSWERS.map((_, place) => `answer-${place}`);
  const places = [...cards, ...answers];
  const calling = (place: string): object => {
    const node = { id: 'x', type: 'external', config: { endpoint_url: `${target.peers}/${place}` } };
    return { name: place, nodes: [node], edges: [] };
  };
  await ask(target, '/api/models', model(`${target.peers}${MODEL}`));
  await Promise.all([READER, ...places.map(calling)].map((it) => save(target, it)));
  const call = (turn: number, place: string): Promise<unknown> => {
    const url = `${target.peers}/${place}`;
    const message = { messageId: `m-${turn}`, role: 'ROLE_USER', parts: [{ text: 'go' }] };
    const round = Math.floor(turn / places.length);
    const way = (turn + round) % 3;
    if (way === 0) return ask(target, `/a2a/workflows/${place}`, messageCall('go'), signal);
    if (way === 1) return ask(target, '/api/agent-messages', { url, message }, signal);
    return ask(target, `/api/agent-card?url=${encodeURIComponent(url)}`, undefined, signal);
  };
  let turn = 0;
  const shapes = repeat(signal, 3, () => {
    turn += 1;
    // Cards and answers in turns: a short attack meets both.
    return call(turn, places[(turn * STRIDE) % places.length]!);
  });
  const pages = repeat(signal, 1, () => ask(target, `/a2a/workflows/${READER.name}`, messageCall('go'), signal));
  await Promise.all([shapes, pages]);
};

/** Step through the list of places. It has no common divisor with the number of places, so that all are visited. */
const STRIDE = 13;

/** Workflow with an agent that reads the pages which its model names. */
const READER = {
  name: 'reader',
  nodes: [{ id: 'a', type: 'agent', config: { prompt: 'go', model: 'hostile', tools: ['http_get'] } }],
  edges: [],
};

const model = (baseUrl: string): object => ({ name: 'hostile', provider: 'openai-compatible', model: 'm', baseUrl });

function callingEach(name: string, called: string, items: string, entries: number, asks: boolean): object {
  const each = { items, concurrency: Math.min(entries, 1_000), maxItems: entries };
  const node = { id: 'n', type: 'workflow', config: { workflow: called, prompt: 'go' }, each };
  const entry = { id: 'entries', type: 'input', config: { schema: { type: 'array' } } };
  const [nodes, edges] = asks ? [[entry, node], [{ from: 'entries', to: 'n' }]] : [[node], []];
  return { language: 2, parallel: 10_000, name, nodes, edges };
}

async function save(target: Target, definition: object): Promise<void> {
  await ask(target, '/api/workflows', definition);
}
