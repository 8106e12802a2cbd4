import { KeptPrompts } from './kept-prompts.js';
import { PROMPT_BYTES, PromptLog, type PromptLogOptions } from './prompt-log.js';
import { PromptRedaction } from './prompt-redaction.js';
import type { SentPrompt } from './prompt-records.js';

const user = (text: string) => ({ role: 'user', parts: [{ text }] });
const assistant = (text: string) => ({ role: 'assistant', parts: [{ text }] });

function newLog(options: Partial<PromptLogOptions> = {}): PromptLog {
  return new PromptLog({
    redaction: new PromptRedaction(),
    kept: true,
    inSpans: false,
    hasRoom: () => true,
    ...options,
  });
}

function sent(step: number, messages: SentPrompt['messages'], more: Partial<SentPrompt> = {}): SentPrompt {
  return { step, model: 'house', provider: 'openai-compatible', providerModel: 'gpt', messages, ...more };
}

function keptBy(rows: readonly (string | undefined)[]): KeptPrompts {
  return new KeptPrompts(rows.filter((row) => row !== undefined));
}

const tools = [{ name: 'clock', inputSchema: { type: 'object' } }];
const MESSAGES = [user('first'), assistant('second'), user('third')];

describe('PromptLog', () => {
  it('keeps the whole of each call, and repeats no text that an earlier line of the Task has', () => {
    const log = newLog();
    const rows = [
      log.describeSent(sent(1, MESSAGES.slice(0, 1), { system: 'be brief', tools, temperature: 0.5 }), [])?.line,
      log.describeReceived({ step: 1, model: 'house', ms: 3, message: MESSAGES[1], reason: 'stop' }, [])?.line,
      log.describeSent(sent(2, MESSAGES, { system: 'be brief', tools, output: { type: 'object' } }), [])?.line,
    ];
    const kept = keptBy(rows);
    expect(kept.findCall(1)).toMatchObject({
      step: 1,
      provider: 'openai-compatible',
      providerModel: 'gpt',
      ms: 3,
      sent: { system: 'be brief', messages: MESSAGES.slice(0, 1), tools, temperature: 0.5 },
      received: MESSAGES[1],
    });
    expect(kept.findCall(2)?.sent).toEqual({
      system: 'be brief',
      messages: MESSAGES,
      tools,
      output: { type: 'object' },
    });
    expect(rows[2]).toContain('third');
    for (const text of ['first', 'second', 'be brief', 'clock']) expect(rows[2]).not.toContain(text);
  });

  it('continues what earlier executions of the Task have kept, without repeating it', async () => {
    const earlier = newLog().describeSent(sent(1, MESSAGES.slice(0, 2)), [])!.line!;
    const log = newLog({ readRows: async () => [earlier] });
    await log.loadEarlier();
    const row = log.describeSent(sent(2, MESSAGES), [])?.line;
    expect(row).not.toContain('first');
    expect(keptBy([earlier, row]).findCall(2)?.sent.messages).toEqual(MESSAGES);
  });

  it('keeps nothing of an execution that cannot read what earlier ones have kept', async () => {
    const log = newLog({ readRows: () => Promise.reject(new Error('database away')) });
    await log.loadEarlier();
    expect(log.describeSent(sent(2, MESSAGES), [])).toBeUndefined();
  });

  it('keeps the beginning of a text that has no room, marked, also in later calls', () => {
    const log = newLog();
    const long = user('long '.repeat(PROMPT_BYTES / 4));
    const rows = [1, 2].map((step) => log.describeSent(sent(step, [long, user(`short ${step}`)]), [])?.line);
    const kept = keptBy(rows);
    for (const call of [1, 2]) {
      const found = kept.findCall(call);
      expect(found?.cut).toBe(true);
      expect(found?.sent.messages).toEqual([
        { cut: JSON.stringify(long).length, start: JSON.stringify(long).slice(0, 1000) },
        user(`short ${call}`),
      ]);
    }
  });

  it('keeps at most 256 KiB of a Task, whatever comes, and marks where it ends', () => {
    const log = newLog();
    const rows = Array.from({ length: 3_000 }, (_, index) =>
      [
        log.describeSent(sent(index + 1, [user(`${'x'.repeat(100)}${index}`), user(`${index}`)]), [])?.line,
        log.describeReceived({ step: index + 1, model: 'house', ms: 1, message: assistant(`a${index}`) }, [])?.line,
      ].filter((line) => line !== undefined),
    ).flat();
    const bytes = rows.reduce((sum, row) => sum + Buffer.byteLength(row) + 1, 0);
    expect(bytes).toBeGreaterThan(PROMPT_BYTES / 2);
    expect(bytes).toBeLessThanOrEqual(PROMPT_BYTES);
    const kept = keptBy(rows);
    expect(kept.isCut).toBe(true);
    expect(kept.calls.length).toBeLessThan(3_000);
    expect(kept.findCall(1)).not.toHaveProperty('cut');
    expect(kept.findCall(kept.calls.length)?.cut).toBe(true);
  });

  it('redacts the content of a call alone, even if the secret or the pattern is a name of a member', () => {
    const log = newLog({ redaction: new PromptRedaction('step|house|role'), inSpans: true });
    const notes = [
      log.describeSent(sent(1, [user('messages of house')], { system: 'be messages', tools }), ['messages', 'model']),
      log.describeReceived({ step: 1, model: 'house', ms: 1, error: 'no messages', reason: 'stop' }, ['messages']),
    ];
    const call = keptBy(notes.map((note) => note?.line)).findCall(1);
    expect(call).toMatchObject({ model: 'house', step: 1, reason: 'stop', error: 'no [redacted]' });
    expect(call?.sent).toMatchObject({ system: 'be [redacted]', tools });
    expect(call?.sent.messages).toEqual([{ '[redacted]': 'user', parts: [{ text: '[redacted] of [redacted]' }] }]);
  });

  it('keeps no texts while the process has no memory for them', () => {
    let hasRoom = false;
    const log = newLog({ hasRoom: () => hasRoom });
    const rows = [log.describeSent(sent(1, MESSAGES), [])?.line];
    hasRoom = true;
    rows.push(log.describeSent(sent(2, MESSAGES), [])?.line);
    const kept = keptBy(rows);
    expect(kept.findCall(1)).toMatchObject({ cut: true, messages: 3, sent: { messages: [{ cut: 0 }, {}, {}] } });
    expect(kept.findCall(2)?.sent.messages).toEqual(MESSAGES);
  });

  it('tells the calls of a step apart: a fallback, and a call that a crash left open', () => {
    const log = newLog();
    const rows = [
      log.describeSent(sent(1, MESSAGES), [])?.line,
      log.describeReceived({ step: 1, model: 'house', ms: 1, error: 'no answer' }, [])?.line,
      log.describeSent(sent(1, MESSAGES, { model: 'other' }), [])?.line,
      log.describeSent(sent(1, MESSAGES, { model: 'other' }), [])?.line,
      log.describeReceived({ step: 1, model: 'other', ms: 2, message: assistant('yes') }, [])?.line,
    ];
    expect(keptBy(rows).calls).toMatchObject([
      { call: 1, model: 'house', error: 'no answer' },
      { call: 2, model: 'other' },
      { call: 3, model: 'other', ms: 2 },
    ]);
    expect(keptBy(rows).calls[1]).not.toHaveProperty('ms');
  });

  it('gives spans the content as GenAI attributes, redacted, without keeping a line', () => {
    const log = newLog({ kept: false, inSpans: true });
    const calls = { ...assistant('hm'), toolCalls: [{ id: 'c1', name: 'clock', args: { zone: 'UTC' } }] };
    const results = { role: 'tool', results: [{ id: 'c1', name: 'clock', result: 'noon' }] };
    const note = log.describeSent(sent(2, [user('the word is xyzzy'), calls, results], { system: 's', tools }), [
      'xyzzy',
    ]);
    expect(note).not.toHaveProperty('line');
    const attributes = Object.entries(note?.attributes ?? {}).map(([name, json]) => [
      name,
      JSON.parse(json) as unknown,
    ]);
    expect(Object.fromEntries(attributes)).toEqual({
      'gen_ai.system_instructions': [{ type: 'text', content: 's' }],
      'gen_ai.input.messages': [
        { role: 'user', parts: [{ type: 'text', content: 'the word is [redacted]' }] },
        {
          role: 'assistant',
          parts: [
            { type: 'text', content: 'hm' },
            { type: 'tool_call', id: 'c1', name: 'clock', arguments: { zone: 'UTC' } },
          ],
        },
        { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c1', response: 'noon' }] },
      ],
      'gen_ai.tool.definitions': [{ type: 'function', name: 'clock', parameters: { type: 'object' } }],
    });
  });
});
