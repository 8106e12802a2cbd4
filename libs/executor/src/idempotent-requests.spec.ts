import { type Message, userMessage } from '#libs/protocol';
import type { Idempotency } from '#libs/tasks';
import type { ServedAgent } from './agent-catalog.js';
import { BrainstormEntries } from './brainstorm-entry.js';
import { CallChains } from './call-chain.js';
import { ConversationEntries } from './conversation-entry.js';
import type { Execution } from './execution.js';
import { IdempotentRequests } from './idempotent-requests.js';

/** What tells a request under a key from others. */
async function fingerprintOf(message: Message): Promise<string | undefined> {
  let once: Idempotency | undefined;
  const begin = (...[, , , given]: [unknown, unknown, unknown, Idempotency]): Execution => {
    once = given;
    return { accepted: Promise.resolve() } as unknown as Execution;
  };
  const requests = new IdempotentRequests(
    {} as never,
    {} as never,
    { begin, resume: begin } as unknown as ConstructorParameters<typeof IdempotentRequests>[2],
  );
  await requests.begin({} as ServedAgent, { message }, {} as never, 'key');
  return once?.fingerprint;
}

const CHAINS = new CallChains(Buffer.from('a secret'));
const OWNER = { tenant: '', owner: '' };

describe('a request under an Idempotency-Key', () => {
  const message = userMessage('hi', { messageId: 'm', extensions: ['urn:x'], metadata: { a: 1 } });

  it.each<[string, Message]>([
    [
      'a conversation',
      new ConversationEntries(CHAINS).signed({ instructions: '', role: 'target', self: 'a', skip: '' }, message, OWNER),
    ],
    ['a brainstorm', new BrainstormEntries(CHAINS).signed({ agent: 'a', output: {}, accepts: {} }, message, OWNER)],
  ])('is the same with and without the entry of %s, which replicas of another version leave out', async (_, signed) => {
    expect(signed).not.toEqual(message);
    expect(await fingerprintOf(signed)).toBe(await fingerprintOf(message));
  });

  it('is another one with other metadata', async () => {
    expect(await fingerprintOf({ ...message, metadata: { a: 2 } })).not.toBe(await fingerprintOf(message));
  });
});
