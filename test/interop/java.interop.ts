import { describe } from 'node:test';
import { describeCalls } from './peers/a2a-calls.js';
import { javaPeer } from './peers/java/java-build.js';
import { JAVA_PEERS } from './peers/java/java-peers.js';
import { LANGCHAIN4J_CLIENT } from './peers/java/langchain4j-client.js';
import { runsAllPeers, whyNoPeers } from './peers/peer-builds.js';

const [LANGCHAIN4J] = JAVA_PEERS;

describe('The peers in Java', { skip: whyNoPeers('Java') ?? (runsAllPeers() ? false : 'they run with --all') }, () => {
  describeCalls(LANGCHAIN4J, 'JSONRPC', javaPeer(LANGCHAIN4J.lock), LANGCHAIN4J_CLIENT);
});
