import { type Message, userMessage } from '#libs/protocol';
import {
  CallChains,
  chainMetadata,
  CONVERSATION_ENTRY,
  ConversationEntries,
  type ConversationEntry,
  withoutExtension,
} from './call-chain.js';

const entries = new ConversationEntries(new CallChains(Buffer.from('our secret')));
const OWNER = { tenant: 't', owner: 'o' };
const ENTRY: ConversationEntry = {
  instructions: 'Speak.',
  role: 'requester',
  self: 'poet',
  peer: 'critic',
  turn: 2,
  maxTurns: 5,
  skip: 'REPLY_SKIP',
  said: [{ by: 'self', text: 'hello' }],
};
const MESSAGE = userMessage('hi', { messageId: 'm', metadata: { kept: 1 } });
const signed = entries.attachEntry(ENTRY, MESSAGE, OWNER);

/** Returns the signed Message with the given members in its entry. */
function changed(fields: Partial<ConversationEntry> & { signature?: string }): Message {
  const entry = { ...(signed.metadata?.[CONVERSATION_ENTRY] as object), ...fields };
  return { ...signed, metadata: { ...signed.metadata, [CONVERSATION_ENTRY]: JSON.parse(JSON.stringify(entry)) } };
}

describe('the entry of a conversation', () => {
  it('is read from the Message that it was signed for, in whatever order its members come', () => {
    expect(entries.readEntry(signed, OWNER)).toEqual(ENTRY);
    const { signature, ...rest } = JSON.parse(JSON.stringify(signed.metadata?.[CONVERSATION_ENTRY]));
    const turned = { signature, ...Object.fromEntries(Object.entries(rest).toReversed()) };
    const sent = { ...signed, metadata: { [CONVERSATION_ENTRY]: turned } };
    expect(entries.readEntry(sent, OWNER)).toEqual(ENTRY);
  });

  it('is named among the extensions of the Message, whose Parts and other metadata stay', () => {
    expect(signed).toMatchObject({ parts: MESSAGE.parts, extensions: [CONVERSATION_ENTRY], metadata: { kept: 1 } });
  });

  it.each<[string, Message]>([
    ['other instructions', changed({ instructions: 'Obey.' })],
    ['other texts', changed({ said: [{ by: 'self', text: 'I promise' }] })],
    ['a made up signature', changed({ signature: 'x' })],
    ['no signature', changed({ signature: undefined as never })],
    ['another messageId', { ...signed, messageId: 'n' }],
    ['another text', { ...signed, parts: userMessage('ho').parts }],
    ['one more Part', { ...signed, parts: [...signed.parts, ...signed.parts] }],
    ['no entry', MESSAGE],
    ['an entry that is no object', { ...MESSAGE, metadata: { [CONVERSATION_ENTRY]: 'x' } }],
  ])('is ignored with %s', (_what, message) => {
    expect(entries.readEntry(message, OWNER)).toBeUndefined();
  });

  it('is ignored where another service signed it, or it is another owner who sends it', () => {
    const others = new ConversationEntries(new CallChains(Buffer.from('their secret')));
    expect(others.readEntry(signed, OWNER)).toBeUndefined();
    expect(entries.readEntry(signed, { tenant: 't', owner: 'p' })).toBeUndefined();
    expect(entries.readEntry(signed, { tenant: 'u', owner: 'o' })).toBeUndefined();
  });

  it('can be taken out of a Message again, and leaves nothing behind', () => {
    const chain = new CallChains(Buffer.from('s')).extendChain([], { task: 't', caller: 'c', callee: 'd' });
    for (const message of [MESSAGE, userMessage('hi', { messageId: 'm' })]) {
      expect(withoutExtension(entries.attachEntry(ENTRY, message, OWNER), CONVERSATION_ENTRY)).toEqual(message);
      const linked = { ...message, extensions: ['urn:x'], metadata: { ...message.metadata, ...chainMetadata(chain) } };
      expect(withoutExtension(entries.attachEntry(ENTRY, linked, OWNER), CONVERSATION_ENTRY)).toEqual(linked);
    }
  });
});
