import type { Peer } from '../peer-cells.js';

/** Peers in Java, each compiled in a folder here. */
export const JAVA_PEERS = [
  {
    id: 'java-langchain4j',
    language: 'Java',
    title: 'LangChain4j',
    protocol: 'a2a',
    lock: 'langchain4j',
    packages: ['langchain4j-agentic-a2a'],
    called: [],
    calls: ['JSONRPC'],
  },
  {
    id: 'java-mcp',
    language: 'Java',
    title: 'MCP Java SDK',
    protocol: 'mcp',
    lock: 'mcp',
    packages: ['mcp'],
    called: ['Streamable HTTP'],
    calls: ['Streamable HTTP'],
  },
] as const satisfies readonly Peer[];
