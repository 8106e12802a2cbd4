import { type Conversation, endingSentence, nextSpeaker, getBadgeStatus, titleOf } from './conversation.js';

const NOW = '2026-11-22T12:00:00Z';
const turn = (number: number) => ({ turn: number, fromAgent: '', toAgent: '', text: '', ts: 0 });
const talk = (fields: Partial<Conversation> = {}): Conversation => ({
  conversationId: 'c',
  requester: 'ann',
  target: 'bob',
  status: 'active',
  maxTurns: 5,
  timeoutMs: 60_000,
  createdAt: NOW,
  updatedAt: NOW,
  turns: [],
  ...fields,
});

describe('who talks', () => {
  it('is told by name, and a requester that is no agent as somebody', () => {
    expect(titleOf({ requester: 'ann', target: 'bob' })).toBe('ann → bob');
    expect(titleOf({ requester: 'unknown', target: 'bob' })).toBe('Somebody → bob');
  });
});

describe('nextSpeaker', () => {
  it.each([
    [[], 'ann'],
    [[0], 'bob'],
    [[0, 1], 'ann'],
    [[0, 1, 2], 'bob'],
  ])('after turns %j it is %s', (turns, name) => {
    expect(nextSpeaker(talk({ turns: turns.map(turn) }))?.name).toBe(name);
  });

  it('is nobody at the end', () => {
    expect(nextSpeaker(talk({ status: 'complete', outcome: 'done' }))).toBeUndefined();
  });
});

describe('statusOf', () => {
  it('says paused only while it goes on', () => {
    expect(getBadgeStatus(talk({ paused: true }))).toBe('paused');
    expect(getBadgeStatus(talk({ paused: true, question: 'May I?' }))).toBe('input-required');
    expect(getBadgeStatus(talk({ paused: true, status: 'complete' }))).toBe('complete');
  });
});

describe('endingSentence', () => {
  it('quotes the turn that failed', () => {
    const error = { turn: 3, code: 'TIMEOUT', message: 'no answer in 60 s.', retryable: true };
    expect(endingSentence(talk({ outcome: 'timeout', error }))).toBe(
      'Turn 3 failed: no answer in 60 s. It may succeed later.',
    );
  });

  it('names the limit, and says nothing while it goes on', () => {
    expect(endingSentence(talk({ outcome: 'max_turns' }))).toBe(
      'The limit of 5 turns after the first answer was reached.',
    );
    expect(endingSentence(talk())).toBeUndefined();
  });
});
