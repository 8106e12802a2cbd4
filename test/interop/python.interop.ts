import { describe } from 'node:test';
import { describeCalled } from './peers/a2a-called.js';
import { describeCalls } from './peers/a2a-calls.js';
import { runsAllPeers, whyNoPeers } from './peers/peer-builds.js';
import { ADK_AGENT } from './peers/python/adk-agent.js';
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
    const gaps = peer.lock === 'google-adk' ? ADK_AGENT : {};
    const most = runsAllPeers() ? undefined : 1;
    for (const binding of peer.called.slice(0, most)) describeCalled(peer, binding, build, gaps);
    for (const binding of peer.calls.slice(0, most)) describeCalls(peer, binding, build);
  }
});
