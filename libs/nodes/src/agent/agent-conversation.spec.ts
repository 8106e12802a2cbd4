import { CallChains, CONVERSATION_ENTRY, ConversationEntries, type ConversationEntry } from '#libs/agents';
import { ECHO_MODEL, type ModelMessage } from '#libs/models';
import { type JsonObject, type Message, userMessage } from '#libs/protocol';
import { asks, FakeModels, says } from '../testing/fake-models.js';
import { NotedTools } from '../testing/noted-agent.js';
import { TaskDriver } from '../testing/task-driver.js';
import { type AgentNodeServices, ModelExecutor } from './model-executor.js';

const entries = new ConversationEntries(new CallChains(Buffer.from('a secret')));
const OWNER = { tenant: '', owner: '' };
const ENTRY: ConversationEntry = {
  instructions: 'You speak in a conversation.',
  role: 'requester',
  self: 'poet',
  peer: 'critic',
  turn: 4,
  maxTurns: 5,
  skip: 'REPLY_SKIP',
  said: [
    { by: 'self', text: 'turn 0' },
    { by: 'peer', text: 'turn 1' },
  ],
};

const asked = (entry: ConversationEntry, text = 'turn 3', messageId = 'm1'): Message =>
  entries.attachEntry(entry, userMessage(text, { messageId }), OWNER);

/** Formats the messages of a model call, each as `role: text`. */
const linesOf = (messages: readonly ModelMessage[] = []): string[] =>
  messages.map((it) => `${it.role}: ${'parts' in it ? it.parts.map(({ text }) => text).join('|') : 'results'}`);

/**
 * Sends a Message to an agent and waits for its turn to end. Returns its Task, and the messages of the first model
 * call.
 */
async function answering(message: Message, config: JsonObject = {}, services: Partial<AgentNodeServices> = {}) {
  const models = new FakeModels();
  const node = { id: 'a', type: 'agent', config };
  const executor = new ModelExecutor(node, { models, tools: new NotedTools(), entries, ...services });
  const driver = new TaskDriver(executor, message);
  await driver.run();
  return { driver, models, messages: linesOf(models.calls[0]?.call.messages) };
}

describe('an agent that a conversation asks for a turn', () => {
  it('is told the instructions after its own prompt, then what was said, then the other side, to the letter', async () => {
    expect((await answering(asked(ENTRY), { system_prompt: 'Be a poet.' })).messages).toEqual([
      'system: Be a poet.\n\nYou speak in a conversation.',
      'assistant: turn 0',
      'user: turn 1',
      'user: turn 3',
    ]);
  });

  it('has a system message of the instructions alone without a prompt of its own', async () => {
    const { messages } = await answering(asked({ ...ENTRY, said: [] }));
    expect(messages).toEqual(['system: You speak in a conversation.', 'user: turn 3']);
  });

  it('knows what was said by its speaker, where there can be several', async () => {
    const said = [{ by: 'peer' as const, agent: 'poet', text: 'hello' }];
    expect((await answering(asked({ ...ENTRY, said }))).messages[1]).toBe('user: "poet" said:\nhello');
  });

  it('keeps the instructions and drops what was said where it is to know no history', async () => {
    const { messages } = await answering(asked(ENTRY), { history: 'none' });
    expect(messages).toEqual(['system: You speak in a conversation.', 'user: turn 3']);
  });

  it('is told as announcer which texts it is not sent, where its config has no room for all', async () => {
    const entry: ConversationEntry = { ...ENTRY, role: 'announcer', instructions: 'You are sent all that was said.' };
    const systemOf = async (config: JsonObject) => (await answering(asked(entry), config)).messages[0];
    const said = 'system: You are sent all that was said.';
    expect(await systemOf({})).toBe(said);
    expect(await systemOf({ historyTokens: 20 })).toBe(
      `${said}\nYour memory is limited: you are sent these texts without the 1 oldest.`,
    );
    expect(await systemOf({ history: 'none' })).toBe(
      `${said}\nYour memory is limited: you are sent only the last of these texts.`,
    );
  });

  it('is told the newest texts that fit into historyTokens, and remembers what fits beside them', async () => {
    const rooms: number[] = [];
    const memory: AgentNodeServices['memory'] = {
      recallMessages: async (_context, { historyTokens }) => {
        rooms.push(historyTokens);
        return { messages: [{ role: 'user', parts: [{ text: 'remembered' }] }] };
      },
    };
    const small = await answering(asked(ENTRY), { historyTokens: 20 }, { memory });
    expect(small.messages.slice(1)).toEqual(['user: remembered', 'user: turn 1', 'user: turn 3']);
    await answering(asked(ENTRY), { historyTokens: 1000 }, { memory });
    expect(rooms).toEqual([2, 965]);
  });

  it('is told the same in every step of its loop, and after a crash', async () => {
    const models = new FakeModels((call) => {
      return call.messages.at(-1)?.role === 'tool' ? says('done') : asks(call, ['look', { at: '0' }]);
    });
    const node = { id: 'a', type: 'agent', config: { tools: ['look'] } };
    const driver = new TaskDriver(new ModelExecutor(node, { models, tools: new NotedTools(), entries }), asked(ENTRY));
    await driver.run(5);
    await driver.run();
    const beginnings = models.calls.map(({ call }) => linesOf(call.messages).slice(0, 4));
    expect(beginnings.length).toBeGreaterThan(1);
    for (const beginning of beginnings) expect(beginning).toEqual(beginnings[0]);
  });

  it('is told the instructions of the last turn while its Task goes on', async () => {
    const models = new FakeModels((call) => {
      return call.messages.at(-1)?.role === 'tool' ? says('done') : asks(call, ['write', { at: '0' }]);
    });
    const config = { tools: ['write'], approve: ['write'] };
    const node = { id: 'a', type: 'agent', config };
    const driver = new TaskDriver(new ModelExecutor(node, { models, tools: new NotedTools(), entries }), asked(ENTRY));
    await driver.run();
    expect(driver.state).toBe('input_required');
    driver.receive(asked({ ...ENTRY, instructions: 'This is turn 6.' }, 'yes', 'm2'));
    await driver.run();
    expect(linesOf(models.calls.at(-1)?.call.messages).slice(0, 2)).toEqual([
      'system: This is turn 6.',
      'assistant: turn 0',
    ]);
  });

  it('echoes the Message alone', async () => {
    const { models } = await answering(asked(ENTRY), { model: ECHO_MODEL });
    expect(linesOf(models.calls[0]?.call.messages)).toEqual(['system: You speak in a conversation.', 'user: turn 3']);
  });

  it.each<[string, Message]>([
    ['no signature', { ...userMessage('turn 3'), metadata: { [CONVERSATION_ENTRY]: ENTRY as unknown as JsonObject } }],
    [
      'the signature of another service',
      new ConversationEntries(new CallChains(Buffer.from('another'))).attachEntry(ENTRY, userMessage('turn 3'), OWNER),
    ],
    ['the signature of another Message', { ...asked(ENTRY), messageId: 'm2' }],
  ])('knows nothing of an entry with %s, which stays in the metadata of the Message', async (_what, message) => {
    const { driver, messages } = await answering(message, { system_prompt: 'Be a poet.' });
    expect(messages).toEqual(['system: Be a poet.', 'user: turn 3']);
    expect(driver.task.history?.[0]?.metadata).toEqual(message.metadata);
  });
});
