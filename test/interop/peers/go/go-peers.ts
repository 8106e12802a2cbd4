import type { Peer } from '../peer-cells.js';

/** Peers in Go, which `go build` compiles in this folder. */
export const GO_PEERS = [
  {
    id: 'go-a2a-1.0',
    language: 'Go',
    title: 'a2a-go (A2A 1.0)',
    protocol: 'a2a',
    packages: ['github.com/a2aproject/a2a-go/v2'],
    called: ['JSONRPC', 'HTTP+JSON', 'GRPC'],
    calls: ['JSONRPC', 'HTTP+JSON', 'GRPC'],
  },
  {
    id: 'go-a2a-0.3',
    language: 'Go',
    title: 'a2a-go (A2A 0.3)',
    protocol: 'a2a',
    packages: ['github.com/a2aproject/a2a-go'],
    called: ['JSONRPC', 'GRPC'],
    calls: ['JSONRPC', 'GRPC'],
  },
  {
    id: 'go-mcp',
    language: 'Go',
    title: 'MCP go-sdk',
    protocol: 'mcp',
    packages: ['github.com/modelcontextprotocol/go-sdk'],
    called: ['Streamable HTTP'],
    calls: ['Streamable HTTP'],
  },
] as const satisfies readonly Peer[];
