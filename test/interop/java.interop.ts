import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { describe } from 'node:test';
import { describeCalls } from './peers/a2a-calls.js';
import { javaPeer } from './peers/java/java-build.js';
import { JAVA_PEERS } from './peers/java/java-peers.js';
import { LANGCHAIN4J_CLIENT } from './peers/java/langchain4j-client.js';
import { describeToolCalls } from './peers/mcp-calls.js';
import { cancelWaiting, describeTools, type ToolsAt } from './peers/mcp-called.js';
import type { PeerGap } from './peers/peer-cells.js';
import { runsAllPeers, whyNoPeers } from './peers/peer-builds.js';

const [LANGCHAIN4J, MCP] = JAVA_PEERS;

const IGNORES_CANCEL: PeerGap<ToolsAt> = {
  says: '– its server ignores the cancellation: the run ends, and the tool works on',
  async test(at) {
    const { runId, path } = await cancelWaiting(at);
    assert.equal((await at.stage.api.ended(runId)).status, 'canceled');
    assert.ok(!existsSync(path), 'The tool was canceled');
  },
};

describe('The peers in Java', { skip: whyNoPeers('Java') ?? (runsAllPeers() ? false : 'they run with --all') }, () => {
  describeCalls(LANGCHAIN4J, 'JSONRPC', javaPeer(LANGCHAIN4J.lock), LANGCHAIN4J_CLIENT);
  describeTools(MCP, javaPeer(MCP.lock), { cancel: IGNORES_CANCEL });
  describeToolCalls(MCP, javaPeer(MCP.lock));
});
