import { describe } from 'node:test';
import { describeCalled } from './peers/a2a-called.js';
import { describeCalls } from './peers/a2a-calls.js';
import { describeToolCalls } from './peers/mcp-calls.js';
import { describeTools } from './peers/mcp-called.js';
import { buildOf, runsAllPeers, whyNoPeers } from './peers/peer-builds.js';
import { RUST_PEERS } from './peers/rust/rust-peers.js';

const [A2A, MCP] = RUST_PEERS;
const most = runsAllPeers() ? undefined : 1;

describe('The peers in Rust', { skip: whyNoPeers('Rust') ?? false }, () => {
  const build = buildOf('Rust');

  for (const binding of A2A.called.slice(0, most)) describeCalled(A2A, binding, build);
  for (const binding of A2A.calls.slice(0, most)) describeCalls(A2A, binding, build);
  if (runsAllPeers()) {
    describeTools(MCP, build);
    describeToolCalls(MCP, build);
  }
});
