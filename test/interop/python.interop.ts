import { describe } from 'node:test';
import { describeCalled } from './peers/a2a-called.js';
import { describeCalls } from './peers/a2a-calls.js';
import { describeToolCalls } from './peers/mcp-calls.js';
import { describeTools } from './peers/mcp-called.js';
import { describeTokensCalled, describeTokensCalls } from './peers/oauth-peers.js';
import { runsAllPeers, whyNoPeers } from './peers/peer-builds.js';
import { pythonPeer } from './peers/python/python-build.js';
import { PYTHON_GAPS } from './peers/python/python-gaps.js';
import { PYTHON_PEERS } from './peers/python/python-peers.js';

describe('The peers in Python', { skip: whyNoPeers('Python') ?? false }, () => {
  for (const peer of PYTHON_PEERS.slice(0, runsAllPeers() ? undefined : 1)) {
    const build = pythonPeer(peer.lock);
    if (peer.protocol === 'mcp') {
      describeTools(peer, build);
      describeToolCalls(peer, build);
      continue;
    }
    if (peer.protocol === 'oauth') {
      describeTokensCalled(peer, 'JSONRPC', build);
      describeTokensCalls(peer, 'JSONRPC', build);
      continue;
    }
    const gaps = PYTHON_GAPS[peer.lock];
    const most = runsAllPeers() ? undefined : 1;
    for (const binding of peer.called.slice(0, most))
      describeCalled(peer, binding, build, { ...gaps?.called, ...gaps?.calledOver?.[binding] });
    for (const binding of peer.calls.slice(0, most)) describeCalls(peer, binding, build, gaps?.calls);
  }
});
