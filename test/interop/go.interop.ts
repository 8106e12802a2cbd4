import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { sendTask } from '../support/a2a.js';
import { openDoor } from '../support/doors.js';
import { type CalledAt, describeCalled } from './peers/a2a-called.js';
import { type CallsAt, describeCalls } from './peers/a2a-calls.js';
import { GO_PEERS } from './peers/go/go-peers.js';
import { describeToolCalls } from './peers/mcp-calls.js';
import { describeTools } from './peers/mcp-called.js';
import { buildOf, runsAllPeers, whyNoPeers } from './peers/peer-builds.js';
import { PEER_OPERATIONS, type PeerGap } from './peers/peer-cells.js';

const [V1, V03, MCP] = GO_PEERS;

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

const GRPC_03: PeerGap<CalledAt> = {
  says: '– Parley calls no gRPC of A2A 0.3, and its error says so; offer JSON-RPC as well',
  async test({ base }) {
    const { status } = await sendTask(base, 'tell');
    assert.match(JSON.stringify(status), /no interface of 0\.3, but GRPC 0\.3\.0/);
  },
};
const NO_GRPC_03 = Object.fromEntries(PEER_OPERATIONS.a2a.called.map((operation) => [operation, GRPC_03]));

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
    describeTools(MCP, buildOf('Go', 'tools'));
    describeToolCalls(MCP, buildOf('Go', 'tools'));
  }
});
