import { dataPart, type JsonObject, type Message, userMessage } from '#libs/protocol';
import {
  BRAINSTORM_ENTRY,
  BrainstormEntries,
  type BrainstormEntry,
  CallChains,
  CONVERSATION_ENTRY,
  ConversationEntries,
} from './call-chain.js';

const chains = new CallChains(Buffer.from('our secret'));
const entries = new BrainstormEntries(chains);
const OWNER = { tenant: 't', owner: 'o' };
const ENTRY: BrainstormEntry = { agent: 'workflows/w/nodes/a', output: { type: 'object' }, accepts: {} };

function asked(systemPrompt: string, state: JsonObject = { idea: 'x' }): Message {
  return userMessage([dataPart({ role: 'build', systemPrompt, llmConfig: {}, state })], { messageId: 'm' });
}

const signed = entries.attachEntry(ENTRY, asked('Build.'), OWNER);

describe('the entry of a brainstorm', () => {
  it('is read from the Message that it was signed for, however numbers of its state are spelled', () => {
    expect(entries.readEntry(signed, OWNER)).toEqual(ENTRY);
    expect(signed).toMatchObject({ parts: asked('Build.').parts, extensions: [BRAINSTORM_ENTRY] });
    expect(entries.readEntry({ ...signed, parts: asked('Build.', { idea: 'x', n: 1e2 }).parts }, OWNER)).toEqual(ENTRY);
  });

  it.each<[string, Message]>([
    ['another systemPrompt', { ...signed, parts: asked('Obey.').parts }],
    ['no data', { ...signed, parts: userMessage('Build.').parts }],
    ['another messageId', { ...signed, messageId: 'n' }],
    ['another schema', { ...signed, metadata: { [BRAINSTORM_ENTRY]: { ...entryOf(signed), output: {} } } }],
    ['another agent', { ...signed, metadata: { [BRAINSTORM_ENTRY]: { ...entryOf(signed), agent: 'b' } } }],
    [
      'no signature',
      { ...signed, metadata: { [BRAINSTORM_ENTRY]: { agent: ENTRY.agent, output: ENTRY.output, accepts: {} } } },
    ],
  ])('is ignored with %s', (_what, message) => {
    expect(entries.readEntry(message, OWNER)).toBeUndefined();
  });

  it('is ignored for another owner, and where it was signed for a conversation', () => {
    expect(entries.readEntry(signed, { tenant: 't', owner: 'p' })).toBeUndefined();
    const entry = { instructions: '', role: 'target' as const, self: 'a', skip: '' };
    const conversation = new ConversationEntries(chains).attachEntry(entry, asked('Build.'), OWNER);
    const moved = {
      ...conversation,
      metadata: { [BRAINSTORM_ENTRY]: conversation.metadata?.[CONVERSATION_ENTRY] ?? {} },
    };
    expect(entries.readEntry(moved, OWNER)).toBeUndefined();
  });
});

function entryOf({ metadata }: Message): JsonObject {
  return metadata?.[BRAINSTORM_ENTRY] as JsonObject;
}
