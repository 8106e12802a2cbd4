import type { Peer } from '../peer-cells.js';

/** Peer whose folder here has its code and its lock file. */
interface PythonPeer extends Peer {
  lock: string;
}

/** Peers in Python. The first one runs in each change. */
export const PYTHON_PEERS = [
  {
    id: 'python-a2a-sdk',
    language: 'Python',
    title: 'a2a-sdk (A2A 1.0)',
    protocol: 'a2a',
    lock: 'a2a-sdk',
    packages: ['a2a-sdk'],
    called: ['JSONRPC', 'HTTP+JSON', 'GRPC'],
    calls: ['JSONRPC', 'HTTP+JSON', 'GRPC'],
  },
  {
    id: 'python-google-adk',
    language: 'Python',
    title: 'google-adk (A2A 1.0)',
    protocol: 'a2a',
    lock: 'google-adk',
    packages: ['google-adk'],
    called: ['JSONRPC'],
    calls: ['JSONRPC'],
  },
  {
    id: 'python-mcp',
    language: 'Python',
    title: 'MCP Python SDK',
    protocol: 'mcp',
    lock: 'mcp',
    packages: ['mcp'],
    called: ['Streamable HTTP'],
    calls: ['Streamable HTTP'],
  },
  {
    id: 'python-fastmcp',
    language: 'Python',
    title: 'fastmcp',
    protocol: 'mcp',
    lock: 'fastmcp',
    packages: ['fastmcp'],
    called: ['Streamable HTTP'],
    calls: ['Streamable HTTP'],
  },
] as const satisfies readonly PythonPeer[];
