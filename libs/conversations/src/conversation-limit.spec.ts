import { setImmediate } from 'node:timers/promises';
import { jest } from '@jest/globals';
import { type Behaviour, DrivenConversation, settingsOf, TalkingAgents } from './testing/driven-conversation.js';

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
});

afterEach(() => {
  jest.useRealTimers();
});

/** Plays one turn of a target. Returns the log of the conversation as of the given milliseconds after its start. */
async function logAfter(milliseconds: number, timeoutMs: number, target: Behaviour): Promise<string> {
  const settings = settingsOf({ maxTurns: 0, timeoutMs });
  const conversation = new DrivenConversation(new TalkingAgents({ b: target }), settings);
  void conversation.start();
  await conversation.agents.called('send b hello');
  await jest.advanceTimersByTimeAsync(milliseconds);
  return JSON.stringify(conversation.log);
}

describe('the limit of a turn', () => {
  const late: Behaviour = () => ({ says: 'at last', afterMs: 65_000 });

  it('is what the caller asked for, also beyond a minute', async () => {
    expect(await logAfter(64_000, 90_000, late)).not.toContain('at last');
    const log = await logAfter(66_000, 90_000, late);
    expect(log).toContain('at last');
    expect(log).toContain('"outcome":"done"');
  });

  it('ends the turn of an agent that is later', async () => {
    expect(await logAfter(66_000, 60_000, late)).toContain('"code":"TIMEOUT"');
    expect(await logAfter(199, 200, () => ({ hangs: true }))).not.toContain('TIMEOUT');
    expect(await logAfter(2_000, 200, () => ({ hangs: true }))).toContain('"code":"TIMEOUT"');
  });

  it('A14 is the stored one in a process with another one of its own, which takes the conversation over', async () => {
    const agents = new TalkingAgents({ b: (nth, text) => (nth === 0 ? { hangs: true } : late(nth, text)) });
    const settings = settingsOf({ maxTurns: 0, timeoutMs: 90_000 });
    const first = new DrivenConversation(agents, settings);
    first.start().catch(() => undefined);
    await agents.called('send b hello');
    first.shutDown();
    const second = new DrivenConversation(agents, { ...settings, timeoutMs: 1_000 });
    void second.recover(first.log);
    while (agents.calls.length < 2) await setImmediate();
    await jest.advanceTimersByTimeAsync(66_000);
    expect(agents.calls).toEqual(['send b hello', 'send b hello']);
    expect(JSON.stringify(second.log)).toContain('"outcome":"done"');
  });
});
