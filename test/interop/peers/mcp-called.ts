import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { before, describe } from 'node:test';
import { keepCredential, newSecret } from '../../support/credentials.js';
import { keepMcpServer } from '../../support/mcp-http-server.js';
import { until } from '../../support/until.js';
import { linear, type Run, unique, type WorkflowNode } from '../../support/workflow.js';
import type { JsonObject } from '../../../libs/protocol/src/index.js';
import { peerCell } from './peer-cell-tests.js';
import { isNamedPeer, type Peer, PEER_OPERATIONS, type PeerGap, type PeerRow } from './peer-cells.js';
import type { PeerProgram } from './peer-program.js';
import { type PeerStage, usePeerStage } from './peer-stage.js';

type ToolOperation = (typeof PEER_OPERATIONS)['mcp']['called'][number];

/** MCP server of a peer, as Parley knows it. */
export interface ToolsAt {
  stage: PeerStage;
  program: PeerProgram;
  /** Name of the server at Parley. */
  server: string;
}

/** Declares the cells of a peer whose tools `tool` nodes of Parley call. */
export function describeTools(
  peer: Peer,
  build: () => PeerProgram | string,
  gaps: Partial<Record<ToolOperation, PeerGap<ToolsAt>>> = {},
): void {
  if (!isNamedPeer(peer)) return;
  describe(`Parley calls the tools of ${peer.title}`, () => {
    const row: PeerRow = { peer, binding: 'Streamable HTTP', direction: 'called' };
    const stage = usePeerStage();
    let at: ToolsAt | string;

    before(async () => {
      const program = build();
      if (typeof program === 'string') return void (at = program);
      const served = await program.serveTools();
      stage.defer(() => served.stop());
      at = { stage, program, server: await keepMcpServer(stage.api, { url: served.url }) };
    });

    for (const operation of PEER_OPERATIONS.mcp.called)
      peerCell(row, operation, gaps[operation] ?? { says: '✓', test: TESTS[operation] }, () => at);
  });
}

const TESTS: Readonly<Record<ToolOperation, (at: ToolsAt) => Promise<void>>> = {
  async list({ stage, server }) {
    const { body } = await stage.api.call<{ tools: { name: string }[] }>('GET', `/mcp-servers/${server}`);
    const names = body.tools.map(({ name }) => name).toSorted();
    assert.deepEqual(names, ['add', 'brew', 'echo', 'fail', 'picture', 'wait']);
  },
  async call(at) {
    assert.equal((await finished(at, 'echo', { text: 'tea' })).state['t'], 'tea');
  },
  async progress(at) {
    assert.equal((await finished(at, 'brew', {})).state['t'], 'brewed');
  },
  async structured(at) {
    const { nodes } = await finished(at, 'add', { a: 2, b: 3 });
    assert.match(JSON.stringify(nodes['t']?.artifacts), /"sum\\?":5/);
  },
  async file(at) {
    const { nodes } = await finished(at, 'picture', {});
    assert.match(JSON.stringify(nodes['t']?.artifacts), /image\/png/);
  },
  async errors(at) {
    const run = await at.stage.api.finish(linear(unique('tool'), toolNode(at, 'fail', {})));
    assert.equal(run.status, 'failed');
    assert.match(JSON.stringify(run.nodes['t']?.error), /no tea left/);
  },
  async cancel(at) {
    const { path } = await cancelWaiting(at);
    await until(() => existsSync(path), { what: 'the tool to be canceled' });
  },
  async key({ stage, program }) {
    const key = newSecret();
    const served = await program.serveTools({ PEER_KEY: key });
    stage.defer(() => served.stop());
    const hosts = [new URL(served.url).origin];
    const [right, wrong] = await Promise.all(
      [key, newSecret()].map(async (value) => {
        const auth = await keepCredential(stage.api, { kind: 'api-key', parameter: 'x-api-key', hosts, value });
        return keepMcpServer(stage.api, { url: served.url, auth });
      }),
    );
    assert.equal((await finished({ stage, program, server: right! }, 'echo', { text: 'tea' })).state['t'], 'tea');
    const run = await stage.api.finish(linear(unique('tool'), toolNode({ server: wrong! }, 'echo', { text: 'tea' })));
    assert.equal(run.status, 'failed');
    assert.match(JSON.stringify(run.nodes['t']?.error), /401|credential|does not accept/);
  },
};

/** Cancels a run whose tool waits. @returns the run, and the file that the tool writes when it is canceled */
export async function cancelWaiting(at: ToolsAt): Promise<{ runId: string; path: string }> {
  const { path } = at.stage.release();
  const { name } = await at.stage.api.save(linear(unique('tool'), toolNode(at, 'wait', { path })));
  const runId = await at.stage.api.start(name, {});
  await until(() => existsSync(`${path}.begun`), { what: 'the tool to begin' });
  await at.stage.api.call('POST', `/runs/${runId}/cancel`);
  return { runId, path };
}

async function finished(at: ToolsAt, tool: string, args: JsonObject): Promise<Run> {
  const run = await at.stage.api.finish(linear(unique('tool'), toolNode(at, tool, args)));
  assert.equal(run.status, 'completed', JSON.stringify(run.nodes['t']?.error ?? run.error));
  return run;
}

function toolNode({ server }: Pick<ToolsAt, 'server'>, tool: string, args: JsonObject): WorkflowNode {
  return { id: 't', type: 'tool', config: { tool: `${server}/${tool}`, args } };
}
