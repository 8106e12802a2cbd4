import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { openDoor } from '../support/doors.js';
import { describeCalled } from './peers/a2a-called.js';
import { type CallsAt, describeCalls } from './peers/a2a-calls.js';
import { GO_PEERS } from './peers/go/go-peers.js';
import { describeToolCalls } from './peers/mcp-calls.js';
import { describeTools } from './peers/mcp-called.js';
import { describeTokensCalled } from './peers/oauth-peers.js';
import { buildIn, buildOf, runsAllPeers, whyNoPeers } from './peers/peer-builds.js';
import { cancels, MODEL_AGENT, showsFile } from './peers/framework-called.js';
import { AGENT_CLIENT } from './peers/framework-calls.js';
import { NO_GRPC_03 } from './peers/legacy-grpc.js';
import type { PeerGap } from './peers/peer-cells.js';

const [V1, V03, ADK, V1_TOKENS, V03_TOKENS, MCP] = GO_PEERS;

/** The client takes no card that asks for a key, as Parley's cards do where callers need one. */
const READS_NO_REQUIREMENTS: PeerGap<CallsAt> = {
  says: '– it reads no card with `securityRequirements` (findings/a2a-go-security-requirements.sh), and says so',
  async test({ stage, agent, callAt }) {
    const { guarded, caller } = stage;
    const { base } = await openDoor(guarded.url, agent.url, {}, caller.headers);
    const [line = ''] = await callAt(`${base}/`, 'send', ['fail'], { env: { PEER_KEY: caller.key } });
    assert.match(line, /card parsing failed.*securityRequirements/);
  },
};

const ADK_AGENT = {
  ...MODEL_AGENT,
  cancel: { says: '✓', test: cancels },
  parts: { says: '✓ its model gets files', test: showsFile },
} as const;

describe('The peers in Go', { skip: whyNoPeers('Go') ?? false }, () => {
  for (const binding of runsAllPeers() ? V1.called : V1.called.slice(0, 1)) {
    describeCalled(V1, binding, buildOf('Go', 'v1'));
    describeCalls(V1, binding, buildOf('Go', 'v1'), { key: READS_NO_REQUIREMENTS });
  }
  for (const binding of runsAllPeers() ? V03.called : []) {
    describeCalled(V03, binding, buildOf('Go', 'v03'), binding === 'GRPC' ? NO_GRPC_03 : {});
    describeCalls(V03, binding, buildOf('Go', 'v03'));
  }
  if (runsAllPeers()) {
    describeCalled(ADK, 'JSONRPC', buildIn('Go', ADK.lock), ADK_AGENT);
    describeCalls(ADK, 'JSONRPC', buildIn('Go', ADK.lock), AGENT_CLIENT);
    describeTokensCalled(V1_TOKENS, 'JSONRPC', buildOf('Go', 'v1'));
    describeTokensCalled(V03_TOKENS, 'JSONRPC', buildOf('Go', 'v03'));
    describeTools(MCP, buildOf('Go', 'tools'));
    describeToolCalls(MCP, buildOf('Go', 'tools'));
  }
});
