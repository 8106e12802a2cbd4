import { describe } from 'node:test';
import { describeCalled } from './peers/a2a-called.js';
import { describeCalls } from './peers/a2a-calls.js';
import { describeToolCalls } from './peers/mcp-calls.js';
import { describeTools } from './peers/mcp-called.js';
import { runsAllPeers, whyNoPeers } from './peers/peer-builds.js';
import { ADK_AGENT } from './peers/python/adk-agent.js';
import { AGENT_CLIENT, withoutGrpc } from './peers/python/framework-calls.js';
import { pythonPeer } from './peers/python/python-build.js';
import { PYTHON_PEERS } from './peers/python/python-peers.js';

/** Option that limits the run to some peers, by their folders: `--peer=google-adk`. */
const PEER = '--peer=';
const named = process.argv
  .find((word) => word.startsWith(PEER))
  ?.slice(PEER.length)
  .split(',');
const wanted = PYTHON_PEERS.filter(({ lock }) => named?.includes(lock) ?? true);

describe('The peers in Python', { skip: whyNoPeers('Python') ?? false }, () => {
  for (const peer of runsAllPeers() ? wanted : PYTHON_PEERS.slice(0, 1)) {
    const build = pythonPeer(peer.lock);
    if (peer.protocol === 'mcp') {
      describeTools(peer, build);
      describeToolCalls(peer, build);
      continue;
    }
    const isAdk = peer.lock === 'google-adk';
    const called = isAdk ? ADK_AGENT : {};
    const calls = isAdk ? withoutGrpc(AGENT_CLIENT) : {};
    const most = runsAllPeers() ? undefined : 1;
    for (const binding of peer.called.slice(0, most)) describeCalled(peer, binding, build, called);
    for (const binding of peer.calls.slice(0, most)) describeCalls(peer, binding, build, calls);
  }
});
