import type { Peer, PeerBinding } from '../peer-cells.js';

/** Peer whose folder here has its code and its lock file. */
interface PythonPeer extends Peer {
  lock: string;
}

const ALL_BINDINGS = ['JSONRPC', 'HTTP+JSON', 'GRPC'] as const;

/** Peers in Python. The first one runs in each change. */
export const PYTHON_PEERS: readonly PythonPeer[] = [
  a2aPeer('a2a-sdk', 'a2a-sdk (A2A 1.0)', ['a2a-sdk'], ALL_BINDINGS),
  { ...a2aPeer('a2a-sdk-0.3', 'a2a-sdk (A2A 0.3)', ['a2a-sdk'], ALL_BINDINGS), called: ['JSONRPC', 'GRPC'] },
  a2aPeer('google-adk', 'google-adk (A2A 1.0)', ['google-adk']),
  a2aPeer('fasta2a', 'Pydantic AI with FastA2A', ['pydantic-ai-slim', 'fasta2a']),
  a2aPeer('strands', 'Strands', ['strands-agents']),
  a2aPeer('agent-framework', 'Microsoft Agent Framework', ['agent-framework-core', 'agent-framework-a2a']),
  mcpPeer('mcp', 'MCP Python SDK'),
  mcpPeer('fastmcp', 'fastmcp'),
];

/** Returns a peer whose agent and client speak the same bindings. */
function a2aPeer(
  lock: string,
  title: string,
  packages: readonly string[],
  bindings: readonly PeerBinding[] = ['JSONRPC'],
): PythonPeer {
  const id = `python-${lock}`;
  return { id, language: 'Python', title, protocol: 'a2a', lock, packages, called: bindings, calls: bindings };
}

function mcpPeer(lock: string, title: string): PythonPeer {
  const rows = { called: ['Streamable HTTP'], calls: ['Streamable HTTP'] } as const;
  return { id: `python-${lock}`, language: 'Python', title, protocol: 'mcp', lock, packages: [lock], ...rows };
}
