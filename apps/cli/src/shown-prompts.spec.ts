import { ParleyError } from '#libs/client';
import type { Session } from './session.js';
import { showRunPrompts, showTaskPrompts } from './shown-prompts.js';
import { Terminal } from './terminal.js';

const CALL = { call: 1, step: 1, model: 'house', provider: 'openai', providerModel: 'gpt', sentAt: '', messages: 4 };
const SENT = {
  system: 'Be brief.',
  messages: [
    { role: 'user', parts: [{ text: 'two\n\u001b[2Jlines' }] },
    { role: 'assistant', parts: [], toolCalls: [{ id: 'c', name: 'clock', args: { zone: 'UTC' } }] },
    { role: 'tool', results: [{ id: 'c', name: 'clock', result: 'noon' }] },
    { cut: 300_000, start: 'long' },
  ],
  tools: [{ name: 'clock' }],
  temperature: 0.2,
};
const RECEIVED = { role: 'assistant', parts: [{ text: 'Noon.' }] };
const USAGE = { inputTokens: 9, outputTokens: 4, cachedInputTokens: 5 };

const ANSWERS: Record<string, unknown> = {
  '/api/runs/r/instances': {
    instances: [{ instance: 'in' }, { instance: 'a', taskId: 't' }, { instance: 'far', taskId: 'elsewhere' }],
    nextPageToken: '',
  },
  '/api/runs/none/instances': { instances: [], nextPageToken: '' },
  '/api/tasks/t/prompts': { calls: [CALL] },
  '/api/tasks/t/prompts/1': { ...CALL, ms: 1234, usage: USAGE, reason: 'stop', sent: SENT, received: RECEIVED },
};

/** Shows prompts with the answers above, and returns what is printed. */
async function printed(
  show: (session: Session) => Promise<void>,
  { json = false, status = 404 } = {},
): Promise<string> {
  let out = '';
  const stream = { write: (text: string) => (out += text), isTTY: true };
  const terminal = new Terminal({ out: stream, err: stream, input: process.stdin, env: { NO_COLOR: '1' } });
  terminal.json = json;
  const call = async (path: string): Promise<unknown> => {
    if (path in ANSWERS) return ANSWERS[path];
    throw new ParleyError({ status, reason: 'NO', message: 'no' });
  };
  await show({ client: { call }, terminal, signal: new AbortController().signal } as unknown as Session);
  return out;
}

describe('the prompts that a command prints', () => {
  it('are those of the nodes of a run, without Tasks of remote agents', async () => {
    expect(await printed((session) => showRunPrompts(session, 'r'))).toBe(
      [
        'a, call 1, step 1: house, openai gpt, 1.23 s, 9 + 4 tokens (5 cached), stop',
        '  system     Be brief.',
        '  user       two',
        '             [2Jlines',
        '  assistant  → clock({"zone":"UTC"})',
        '  tool       clock: noon',
        '             long… [cut: 300000 bytes]',
        '  tools      clock',
        '  parameters {"temperature":0.2}',
        '  received   Noon.',
        '',
      ].join('\n'),
    );
  });

  it('are whole as JSON', async () => {
    const json = await printed((session) => showTaskPrompts(session, 't'), { json: true });
    expect(JSON.parse(json)).toEqual([
      expect.objectContaining({ taskId: 't', call: 1, sent: SENT, received: RECEIVED }),
    ]);
  });

  it('are none where none is kept', async () => {
    expect(await printed((session) => showRunPrompts(session, 'none'))).toContain('No model call is kept');
  });

  it('are refused with the reason of the service', async () => {
    await expect(printed((session) => showRunPrompts(session, 'r'), { status: 403 })).rejects.toThrow('no');
  });
});
