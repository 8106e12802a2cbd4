import { AgentCallError, type AgentClient } from '#libs/a2a-client';
import type { HeldParts, RequestContext } from '#libs/agents';
import { type Part, type StreamResponse, userMessage, withKeptFile } from '#libs/protocol';
import type { RegisteredAgent } from '../agents/registered-agents.js';
import type { OpenedTurn } from './opened-turn.js';
import type { RelayServices } from './relay-request.js';
import { RelayTurn } from './relay-turn.js';

const BYTES: Part = { raw: 'AAAA' };
const STORED = withKeptFile(BYTES, 'https://files.example.com/1', { id: '1', size: 3, sha256: '0' });
const REMOTE = { id: 'remote', contextId: 'remote-context' };

function taskOf(state: 'TASK_STATE_WORKING' | 'TASK_STATE_COMPLETED'): StreamResponse {
  return { task: { ...REMOTE, status: { state } } };
}

/**
 * Runs the turn of an agent that forgets its Task once. The policy of the agent allows to send the Message again.
 * @returns the log of what happened, in order
 */
async function runForgottenTurn(streaming: boolean): Promise<string[]> {
  const log: string[] = [];
  let sendings = 0;
  const client = {
    async *sendMessage({ message }: { message: { parts: Part[] } }) {
      sendings += 1;
      log.push(`sent ${JSON.stringify(message.parts)}`);
      yield taskOf('TASK_STATE_WORKING');
      log.push('first response read');
      yield taskOf('TASK_STATE_WORKING');
      log.push('second response read');
      if (sendings === 1) throw new AgentCallError('not-found', 'the agent knows no such task', { code: -32001 });
      yield taskOf('TASK_STATE_COMPLETED');
    },
  } as unknown as AgentClient;
  const holdParts = async (): Promise<HeldParts> => {
    log.push('held');
    return { parts: [BYTES], [Symbol.dispose]: () => void log.push('released') };
  };
  const context = {
    ...{ taskId: 't', contextId: 'c', token: 'k', task: null, holdParts },
    userMessage: { ...userMessage('hello'), parts: [STORED] },
    call: { scope: { tenant: '', owner: '' }, agent: 'agents/echo', extensions: [], baseUrl: '' },
    signal: new AbortController().signal,
    flush: async () => undefined,
    assertClaimHeld: async () => undefined,
  } as unknown as RequestContext;
  const services = {
    directory: { resolveClient: async () => client },
    tasks: { keepRemote: async () => undefined, noteUnsent: async () => true, remoteTasks: async () => new Map() },
    webhooks: { isReachable: false },
  } as unknown as RelayServices;
  const agent = {
    ...{ tenant: '', name: 'echo', url: 'https://agent.example.com', card: { capabilities: { streaming } } },
    policy: { forgotten: 'resend' },
  } as unknown as RegisteredAgent;
  const turn = { options: {}, begunAt: new Date(), isAnswer: false, isUnsent: false, hasWebhook: false };
  const opened: OpenedTurn = { turn, isRecovered: false, log: [], acceptedAfter: performance.now() };
  for await (const _event of new RelayTurn(agent, services, context, opened).runTurn());
  return log;
}

const SENDING = ['held', 'sent [{"raw":"AAAA"}]'];

it('releases the bytes of a Message at the first response of a streaming agent, and reads them for a resend', async () => {
  const call = [...SENDING, 'released', 'first response read', 'second response read'];
  expect(await runForgottenTurn(true)).toEqual([...call, ...call]);
});

it('keeps the bytes until an agent that does not stream has answered once more', async () => {
  const call = [...SENDING, 'first response read', 'released', 'second response read'];
  expect(await runForgottenTurn(false)).toEqual([...call, ...call]);
});
