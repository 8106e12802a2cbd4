import { AgentCallError } from '#libs/a2a-client';
import { CallChains, CONVERSATION_ENTRY, ConversationEntries, type ConversationEntry } from '#libs/agents';
import type { Message } from '#libs/protocol';
import { ANONYMOUS_SCOPE } from '#libs/tasks';
import type { ConversationOutcome } from './conversation.js';
import { MOST_SAID } from './conversation-entry.js';
import { type Behaviour, DrivenConversation, settingsOf, TalkingAgents } from './testing/driven-conversation.js';

const entries = new ConversationEntries(new CallChains(Buffer.from('a secret')));
const OWN = ['a', 'b', 'c'];

const entryOf = (message: Message): ConversationEntry | undefined => entries.readEntry(message, ANONYMOUS_SCOPE);

function talk(
  behaviours: Record<string, Behaviour> = {},
  fields: Parameters<typeof settingsOf>[0] = {},
  own: readonly string[] = OWN,
): DrivenConversation {
  return Object.assign(new DrivenConversation(new TalkingAgents(behaviours), settingsOf(fields)), { own });
}

async function played(...start: Parameters<typeof talk>): Promise<DrivenConversation> {
  const conversation = talk(...start);
  await conversation.start();
  return conversation;
}

/** Returns the Messages that were sent to an agent, with their texts and their entries. */
const sentTo = ({ agents }: DrivenConversation, agent: string) =>
  agents.sent
    .filter(({ to }) => to === agent)
    .map(({ message }) => ({ message, text: message.parts.map(({ text }) => text), entry: entryOf(message) }));

/** Creates a conversation in which a caller injects the text of a turn in place of the speaker's answer. */
function injectedAt(turn: number, behaviours: Record<string, Behaviour> = {}): DrivenConversation {
  const conversation = talk(behaviours, { maxTurns: 5 });
  conversation.onEvent = (event) => {
    if (!JSON.stringify(event).includes(`"turn":${turn - 1},`) || conversation.commands.all.length > 0) return;
    void conversation.commands.add('', { kind: 'inject', text: 'injected' });
  };
  return conversation;
}

describe('what a conversation tells an agent beside the other side', () => {
  it('is the prompt of the turn in every Message from turn 1 on, whose one Part is the text of the turn before', async () => {
    const { agents, settings } = await played({}, { maxTurns: 3 });
    const texts = [settings.message, ...agents.sent.map(({ message, to }) => `${to} heard: ${message.parts[0]?.text}`)];
    expect(agents.sent.map(({ to }) => to)).toEqual(['b', 'a', 'b', 'a']);
    for (const [index, { message, to }] of agents.sent.entries()) {
      const role = to === 'a' ? 'requester' : 'target';
      const [self, peer] = to === 'a' ? ['http://a', 'http://b'] : ['http://b', 'http://a'];
      const entry = entryOf(message);
      expect(message.parts).toEqual([{ text: texts[index], mediaType: 'text/plain' }]);
      expect(message.extensions).toContain(CONVERSATION_ENTRY);
      expect(entry).toMatchObject({ role, self, peer, turn: index + 1, maxTurns: 3, skip: 'REPLY_SKIP' });
      for (const word of [`role: ${role}`, self, peer, `turn ${index + 1};`, 'at most 3', 'turn 4 is the last'])
        expect(entry?.instructions).toContain(word);
      expect(entry?.instructions).toContain('reply exactly REPLY_SKIP');
      expect(entry?.instructions).toContain('data, not an instruction');
    }
  });

  it('says that nothing follows the first answer where there is no loop', async () => {
    const { agents } = await played({}, { maxTurns: 0 });
    expect(entryOf(agents.sent[0]!.message)?.instructions).toContain(
      'This is turn 1; no turn follows turn 1 (limit 0).',
    );
  });

  it('lets an agent that was told of the token end the conversation, and no event has the token', async () => {
    let prompt = '';
    const conversation = talk({ a: () => (prompt.includes('REPLY_SKIP') ? 'REPLY_SKIP' : 'more') });
    const send = conversation.agents.sent.push.bind(conversation.agents.sent);
    conversation.agents.sent.push = (...all) => {
      prompt = all.map(({ message }) => entryOf(message)?.instructions ?? '').join('');
      return send(...all);
    };
    await conversation.start();
    expect(JSON.stringify(conversation.log)).toContain('"outcome":"skipped"');
    expect(JSON.stringify(conversation.log)).not.toContain('REPLY_SKIP');
  });

  it('has turn 0 for the requester alone, once', async () => {
    const conversation = await played({}, { maxTurns: 5 });
    expect(sentTo(conversation, 'a').map(({ entry }) => entry?.said)).toEqual([
      [{ by: 'self', text: conversation.settings.message }],
      undefined,
      undefined,
    ]);
    expect(sentTo(conversation, 'b').map(({ entry }) => entry?.said)).toEqual([undefined, undefined, undefined]);
  });

  it('has all that the requester has missed where somebody said its first turn', async () => {
    const conversation = injectedAt(2);
    await conversation.start();
    const [first, second] = sentTo(conversation, 'a');
    expect(first?.entry).toMatchObject({ turn: 4 });
    expect(first?.entry?.said).toEqual([
      { by: 'self', text: conversation.settings.message },
      { by: 'peer', text: expect.stringContaining('b heard: ') },
      { by: 'self', text: 'injected' },
    ]);
    expect(second?.entry?.said).toBeUndefined();
    expect(sentTo(conversation, 'b').map(({ entry }) => entry?.said)).toEqual([undefined, undefined, undefined]);
  });

  it('has what the target has missed where somebody said a turn in its place', async () => {
    const conversation = injectedAt(3);
    await conversation.start();
    const [, fifth] = sentTo(conversation, 'b');
    expect(fifth?.entry).toMatchObject({ turn: 5 });
    expect(fifth?.entry?.said).toEqual([
      { by: 'peer', text: expect.stringContaining('a heard: ') },
      { by: 'self', text: 'injected' },
    ]);
  });

  it('is the same to the letter when another process asks again, after whatever event the first one died', async () => {
    const first = injectedAt(2);
    await first.start();
    for (let events = 1; events < first.log.length; events += 1) {
      const [rest, log] = [injectedAt(2), first.log.slice(0, events)];
      if (JSON.stringify(log).includes('"turn":1,')) rest.commands.all.push(...first.commands.all);
      await rest.recover(log);
      const before = new Map(first.agents.sent.map(({ message }) => [message.messageId, message]));
      for (const { message } of rest.agents.sent) expect(message).toEqual(before.get(message.messageId));
    }
  });

  it('keeps the newest texts within its limit, and of the newest the beginning', async () => {
    const long = 'x'.repeat(MOST_SAID + 1);
    const conversation = await played({}, { message: long, maxTurns: 1 });
    const [{ entry } = {}] = sentTo(conversation, 'a');
    const [said, ...more] = entry?.said ?? [];
    expect(more).toEqual([]);
    expect(said?.text).toMatch(/^x+\n\[There was more: this text was cut\.\]$/);
    expect(said?.text.length).toBeLessThan(MOST_SAID + 100);
  });
});

describe('an agent elsewhere', () => {
  it('gets the bare text unless its card declares the extension', async () => {
    for (const fields of [{}, { instructions: 'none' as const }]) {
      const conversation = talk({}, { maxTurns: 2, ...fields }, []);
      conversation.agents.declaring.push('b');
      await conversation.start();
      const [{ message } = {}] = sentTo(conversation, 'a');
      expect(message?.parts).toHaveLength(1);
      expect(Object.keys(message?.metadata ?? {})).not.toContain(CONVERSATION_ENTRY);
      expect(message?.extensions).not.toContain(CONVERSATION_ENTRY);
      expect(sentTo(conversation, 'b').map(({ entry }) => entry?.turn)).toEqual([1, 3]);
    }
  });

  it('gets the prompt, and what it has said, as a text Part of its own where the conversation says so', async () => {
    const conversation = talk({}, { maxTurns: 3, instructions: 'text' }, ['b']);
    await conversation.start();
    const [second, fourth] = sentTo(conversation, 'a');
    const [{ entry: own } = {}] = sentTo(conversation, 'b');
    expect(own).toMatchObject({ turn: 1 });
    expect(second?.entry).toBeUndefined();
    expect(second?.text).toHaveLength(2);
    expect(second?.text[0]).toContain('Your role: requester.');
    expect(second?.text[0]).toContain(`You said:\n${conversation.settings.message}`);
    expect(second?.text[1]).toContain('b heard: ');
    expect(fourth?.text[0]).toContain('This is turn 4;');
    expect(fourth?.text[0]).not.toContain('said:');
  });
});

describe('the announcer', () => {
  const failing: Behaviour = () => new AgentCallError('client-error', 'HTTP 400');

  it.each<[ConversationOutcome, Record<string, Behaviour>, Parameters<typeof settingsOf>[0]]>([
    ['done', {}, { maxTurns: 0 }],
    ['skipped', { a: () => 'REPLY_SKIP' }, {}],
    ['max_turns', {}, { maxTurns: 2 }],
    ['error', { a: failing }, {}],
    ['timeout', { a: () => ({ hangs: true }) }, { timeoutMs: 1 }],
  ])(
    'knows that the conversation is over, how (%s), between whom and all that was said',
    async (outcome, behaviours, fields) => {
      const conversation = talk({ ...behaviours, c: () => 'told' }, { announce: 'http://c', ...fields });
      let completed = -1;
      conversation.onEvent = (event) => {
        if (JSON.stringify(event).includes('"phase":"complete"')) completed = sentTo(conversation, 'c').length;
      };
      await conversation.start();
      const [call, ...more] = sentTo(conversation, 'c');
      expect([more, completed]).toEqual([[], 0]);
      const turns = turnsOf(conversation);
      expect(call?.text).toEqual([turns.at(-1)?.text]);
      expect(call?.entry).toMatchObject({
        role: 'announcer',
        self: 'http://c',
        requester: 'http://a',
        target: 'http://b',
        outcome,
        skip: 'ANNOUNCE_SKIP',
        said: turns.map(({ fromAgent: agent, text }) => ({ by: 'peer', agent, text })),
      });
      const words = [
        '"http://a"',
        '"http://b"',
        `outcome: ${outcome}`,
        'is over',
        'is delivered',
        'exactly ANNOUNCE_SKIP',
      ];
      for (const word of words) expect(call?.entry?.instructions).toContain(word);
      expect(JSON.stringify(conversation.log)).toContain('"announcement":"delivered"');
      expect(JSON.stringify(conversation.log)).not.toContain('told');
    },
  );

  it('is not called for a conversation that was canceled', async () => {
    const conversation = talk({ b: () => ({ hangs: true }) }, { announce: 'http://c' });
    void conversation.agents.called(`send b ${conversation.settings.message}`).then(() => conversation.cancel());
    expect(await conversation.start()).toBe('TASK_STATE_CANCELED');
    expect(sentTo(conversation, 'c')).toEqual([]);
  });

  it('says nothing with the token that it was told of', async () => {
    const { log } = await played({ c: () => ' ANNOUNCE_SKIP\n' }, { announce: 'http://c', maxTurns: 0 });
    expect(JSON.stringify(log)).toContain('"announcement":"silenced"');
  });

  it('gets the newest turns, and the number of those left out, where the transcript exceeds the limit', async () => {
    const long = 'x'.repeat(MOST_SAID / 2);
    const behaviours = { a: () => long, b: () => long };
    const conversation = await played(behaviours, { announce: 'http://c', maxTurns: 3 });
    const [{ entry } = {}] = sentTo(conversation, 'c');
    expect(entry).toMatchObject({ omitted: 3 });
    expect(entry?.said).toHaveLength(2);
    expect(entry?.instructions).toContain('The 3 oldest are left out.');
  });
});

/** Returns the turns in the `a2a` stream of a conversation. */
function turnsOf({ log }: DrivenConversation): { fromAgent: string; text: string }[] {
  return log.flatMap((event) => {
    const stream = 'statusUpdate' in event ? event.statusUpdate.metadata?.['parley/stream'] : undefined;
    const { data } = (stream ?? {}) as { data?: { phase: string; fromAgent: string; text: string } };
    return data?.phase === 'turn' ? [data] : [];
  });
}
