import type { Peer } from '../peer-cells.js';

/** Peers in Rust, which `cargo build` compiles in this folder. */
export const RUST_PEERS = [
  {
    id: 'rust-a2a',
    language: 'Rust',
    title: 'a2a-client-lf, a2a-server-lf, a2a-grpc',
    protocol: 'a2a',
    packages: ['a2a-client-lf', 'a2a-server-lf', 'a2a-grpc'],
    called: ['JSONRPC', 'HTTP+JSON', 'GRPC'],
    calls: ['JSONRPC', 'HTTP+JSON', 'GRPC'],
  },
  {
    id: 'rust-mcp',
    language: 'Rust',
    title: 'rmcp',
    protocol: 'mcp',
    packages: ['rmcp'],
    called: ['Streamable HTTP'],
    calls: ['Streamable HTTP'],
  },
] as const satisfies readonly Peer[];
