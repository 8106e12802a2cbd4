/** Package or language that is no peer here, the version that was tried, and the reason. */
export interface MissingPeer {
  name: string;
  version: string;
  reason: string;
}

const A2A_01 = 'its client calls `tasks/send`, a method of A2A 0.1 that Parley does not serve';
const NO_A2A = 'it installs, and has no code for A2A';

export const MISSING_PEERS: readonly MissingPeer[] = [
  {
    name: 'a2a-java-sdk (`org.a2aproject.sdk`)',
    version: '1.0.0.Final',
    reason: 'the registry has no such version; earlier packages of the SDK (`io.github.a2asdk`) are peers',
  },
  {
    name: 'a2a-java-sdk (A2A 1.0), server',
    version: '1.0.0.Alpha3',
    reason: 'the registry has its client alone; its reference server is not published',
  },
  {
    name: '.NET: A2A, Agent Framework, Semantic Kernel',
    version: '.NET 8 or newer',
    reason:
      'no registry that these tests use has a .NET SDK; the only runtime is that of .NET Core 3.1 (`dotnetcore2` 3.1.23 of PyPI), without a compiler',
  },
  {
    name: 'ADK for Java, server',
    version: '0.5.0',
    reason: '`google-adk-a2a` answers Messages in Java code, and serves no HTTP; its client is a peer',
  },
  { name: 'LlamaIndex', version: 'llama-index-core 0.14.25', reason: NO_A2A },
  { name: 'Semantic Kernel for Python', version: '1.45.0', reason: NO_A2A },
  {
    name: 'Semantic Kernel for Java',
    version: 'semantickernel-api 1.4.3',
    reason: 'the registry has no such version',
  },
  { name: 'OpenAI Agents SDK', version: '0.24.0', reason: NO_A2A },
  { name: 'AutoGen', version: 'autogen-agentchat 0.7.5', reason: NO_A2A },
  { name: 'a2a-cli', version: '0.2', reason: A2A_01 },
  { name: 'python-a2a', version: '0.5.10', reason: A2A_01 },
];
