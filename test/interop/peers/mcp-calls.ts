import assert from 'node:assert/strict';
import { before, describe } from 'node:test';
import type { JsonObject } from '../../../libs/protocol/src/index.js';
import { Api, input, linear, output, ruled, script, unique } from '../../support/workflow.js';
import { peerCell } from './peer-cell-tests.js';
import { isNamedPeer, type Peer, PEER_OPERATIONS, type PeerFinding, type PeerGap, type PeerRow } from './peer-cells.js';
import type { CallOptions, PeerProgram } from './peer-program.js';
import { type PeerStage, usePeerStage } from './peer-stage.js';

type ClientOperation = (typeof PEER_OPERATIONS)['mcp']['calls'][number];

/** MCP client of a peer, and the workflows of Parley that it calls as tools. */
export interface ToolCallsAt {
  stage: PeerStage;
  /** Runs an operation of the client at an MCP endpoint of Parley. @returns the printed lines */
  call(url: string, operation: string, args?: readonly string[], options?: CallOptions): Promise<string[]>;
}

/** Declares the cells of a peer whose client calls workflows of Parley as tools. */
export function describeToolCalls(
  peer: Peer,
  build: () => PeerProgram | string,
  gaps: Partial<Record<ClientOperation, PeerGap<ToolCallsAt>>> = {},
): void {
  if (!isNamedPeer(peer)) return;
  describe(`${peer.title} calls the tools of Parley`, () => {
    const row: PeerRow = { peer, binding: 'Streamable HTTP', direction: 'calls' };
    const stage = usePeerStage();
    let at: ToolCallsAt | string;

    before(() => {
      const program = build();
      if (typeof program === 'string') return void (at = program);
      const call: ToolCallsAt['call'] = async (url, operation, args = [], options = {}) =>
        (await program.call(['mcp-call', url, operation, ...args], options)).lines;
      at = { stage, call };
    });

    for (const operation of PEER_OPERATIONS.mcp.calls)
      peerCell(row, operation, gaps[operation] ?? { says: SAYS[operation] ?? '✓', test: TESTS[operation] }, () => at);
  });
}

const ANSWERS: JsonObject[] = [{ artifact: { parts: [{ text: 'heard {{text}}' }] } }, { complete: 'done' }];
const ASKS: JsonObject[] = [{ when: { turn: 1 }, steps: [{ ask: 'Which tea?' }] }];
const INPUTS = JSON.stringify({ in: 'tea' });

/** Texts of cells that are good, but need a word. */
const SAYS: Partial<Record<ClientOperation, PeerFinding>> = {
  cancel: '✓ the call of the client ends at once; the run continues (docs/MCP.md)',
};

const TESTS: Readonly<Record<ClientOperation, (at: ToolCallsAt) => Promise<void>>> = {
  async list({ stage, call }) {
    const { name, url } = await saveAnswering(stage.api);
    const [line = ''] = await call(url, 'list');
    assert.ok(line.includes(`"${name}"`), line);
    assert.match(line, /"in"/);
  },
  async call({ stage, call }) {
    const { name, url } = await saveAnswering(stage.api);
    assert.match((await call(url, 'call', [name, INPUTS])).at(-1) ?? '', /heard tea/);
  },
  async progress({ stage, call }) {
    const { name, url } = await saveAnswering(stage.api);
    const lines = await call(url, 'call', [name, INPUTS]);
    assert.ok(
      lines.some((line) => line.includes('q completed')),
      lines.join('\n'),
    );
  },
  async ask({ stage, call }) {
    const { name, url } = await saveAsking(stage.api);
    const lines = await call(url, 'call', [name, INPUTS], { env: { PEER_ANSWER: 'green' } });
    assert.match(lines.at(-1) ?? '', /heard green/);
  },
  async decline({ stage, call }) {
    const { name, url } = await saveAsking(stage.api);
    assert.match((await call(url, 'call', [name, INPUTS])).at(-1) ?? '', /The question was not answered/);
  },
  async errors({ stage, call }) {
    const failing = await saveTool(stage.api, linear(unique('tool'), input('in'), script('q', { fail: 'no tea' })));
    assert.match((await call(failing.url, 'call', [failing.name, INPUTS])).at(-1) ?? '', /no tea/);
    assert.match((await call(failing.url, 'call', ['none', INPUTS])).at(-1) ?? '', /error/i);
  },
  async cancel({ stage, call }) {
    const steps: JsonObject[] = [{ status: 'working', text: 'at it' }, { sleep: 600_000 }];
    const { name, url } = await saveTool(stage.api, linear(unique('tool'), input('in'), script('q', ...steps)));
    assert.match((await call(url, 'cancel', [name, INPUTS])).join('\n'), /"error".*cancel/i);
    const { body } = await stage.api.call<{ runs: { runId: string; status: string }[] }>(
      'GET',
      `/runs?workflow=${name}`,
    );
    assert.deepEqual(
      body.runs.map(({ status }) => status),
      ['running'],
    );
    await stage.api.call('POST', `/runs/${body.runs[0]!.runId}/cancel`);
  },
  async key({ stage: { guarded, caller }, call }) {
    const { name, url } = await saveAnswering(new Api(guarded.url, caller.headers));
    const right = await call(url, 'call', [name, INPUTS], { env: { PEER_KEY: caller.key } });
    assert.match(right.at(-1) ?? '', /heard tea/);
    const wrong = await call(url, 'call', [name, INPUTS], { env: { PEER_KEY: 'another' } });
    assert.match(wrong.at(-1) ?? '', /error.*(401|unauthorized|auth|credentials)/i);
  },
};

type SavedTool = Promise<{ name: string; url: string }>;

function saveAnswering(api: Api): SavedTool {
  return saveTool(api, linear(unique('tool'), input('in'), ruled('q', [], ANSWERS), output('out')));
}

function saveAsking(api: Api): SavedTool {
  return saveTool(api, linear(unique('tool'), input('in'), ruled('q', ASKS, ANSWERS), output('out')));
}

async function saveTool(api: Api, workflow: ReturnType<typeof linear>): SavedTool {
  const { name } = await api.save(workflow);
  return { name, url: `${new URL(api.base(name)).origin}/mcp/workflows/${name}` };
}
