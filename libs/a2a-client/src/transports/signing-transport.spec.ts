import { AgentCallError } from '../agent-call-error.js';
import type { RequestSigners } from '../request-signers.js';
import type { AgentTransport, TransportOptions } from './agent-transport.js';
import { SigningTransport } from './signing-transport.js';

const options = { credential: 'key', signal: new AbortController().signal, alive: () => undefined } as TransportOptions;
const agent = { agentUrl: 'http://agent.test', endpoint: new URL('http://agent.test/rpc') };
const signers = { createProof: async () => ({ secrets: ['s3cret'] }) } as unknown as RequestSigners;

describe('what an agent says of a call that proves who calls', () => {
  it('is told without the secret, and means what it meant', async () => {
    const said = { code: -32000, status: 429, retryAfter: 7_000 };
    const failure = new AgentCallError('rpc-error', 'a2a error -32000: too often for s3cret', said);
    const inner = { getTask: () => Promise.reject(failure) } as unknown as AgentTransport;
    await expect(new SigningTransport(inner, signers, agent).getTask('t', options)).rejects.toMatchObject({
      kind: 'rpc-error',
      message: 'a2a error -32000: too often for [secret]',
      rateLimited: true,
      ...said,
    });
  });
});
