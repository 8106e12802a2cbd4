import { a2aEvent, type A2aEvent } from './a2a-event.js';
import type { ConversationSettings, ConversationOutcome, TurnReply } from './conversation.js';
import { Dialogue } from './dialogue.js';

const TIMED_OUT: TurnReply = { failure: { code: 'TIMEOUT', message: 'not finished in time', retryable: true } };
const THROWN: TurnReply = { failure: { code: 'AGENT_ERROR', message: 'broken', retryable: false } };

/**
 * Plays a whole conversation, and returns its events. `replies[k]` is the reply of the agent that speaks in turn k + 1.
 * `self` is true if requester and target are the same agent.
 */
function play(settings: Partial<ConversationSettings>, replies: TurnReply[], self = false): A2aEvent[] {
  const asked = { requester: 'A', target: 'B', message: 'hello', maxTurns: 5, timeoutMs: 60_000, ...settings };
  const dialogue = new Dialogue({ conversationId: 'c', settings: asked, self });
  const events: A2aEvent[] = [];
  const emit = (draft: Parameters<typeof a2aEvent>[0] | undefined): void => {
    if (!draft) return;
    const event = a2aEvent(draft, dialogue.emitted, events.length);
    dialogue.applyEvent(event);
    events.push(event);
  };
  emit(dialogue.draftOpening());
  for (let turn = dialogue.findPending(); turn; turn = dialogue.findPending()) {
    const reply = replies[turn.turn - 1];
    if (!reply) throw new Error(`Turn ${turn.turn} was asked for`);
    emit(dialogue.draftReply(turn, reply));
  }
  if (dialogue.outcome === undefined) emit(dialogue.draftEnd());
  return events;
}

/** Formats an event, such as `0 A>B hello`, `error 1 B>A TIMEOUT` or `complete A>B done`. */
const line = ({ data, outcome }: A2aEvent): string => {
  const names = `${data.fromAgent}>${data.toAgent}`;
  if (data.phase === 'turn') return `${data.turn} ${names} ${data.text}`;
  return data.phase === 'error' ? `error ${data.turn} ${names} ${data.code}` : `complete ${names} ${outcome}`;
};

const says = (count: number): TurnReply[] => Array.from({ length: count }, (_, index) => ({ text: `t${index + 1}` }));

/** Returns the formatted events of the turns 0 to `last`. */
const turns = (last: number): string[] => [
  '0 A>B hello',
  ...Array.from({ length: last }, (_, index) => `${index + 1} ${index % 2 === 0 ? 'B>A' : 'A>B'} t${index + 1}`),
];

describe('Dialogue', () => {
  it.each([
    [0, 'done'],
    [1, 'max_turns'],
    [3, 'max_turns'],
    [5, 'max_turns'],
    [20, 'max_turns'],
  ])('A5-A9, A22 with maxTurns %i: turns 0 to maxTurns + 1, then %s', (maxTurns, outcome) => {
    const events = play({ maxTurns }, says(maxTurns + 1));
    expect(events.map(line)).toEqual([...turns(maxTurns + 1), `complete A>B ${outcome}`]);
    expect(events.map(({ cseq }) => cseq)).toEqual(events.map((_, index) => index + 1));
    for (const { data } of events) if (data.phase === 'turn') expect(data.maxTurns).toBe(maxTurns);
  });

  const endings: [string, TurnReply, ConversationOutcome, boolean][] = [
    ['the skip token', { text: ' REPLY_SKIP \n' }, 'skipped', false],
    ['an empty reply', { text: ' \n' }, 'skipped', false],
    ['a timeout', TIMED_OUT, 'timeout', true],
    ['a throw', THROWN, 'error', true],
  ];
  const positions = [0, 1, 5].flatMap((maxTurns) =>
    Array.from({ length: maxTurns + 1 }, (_, index) => ({ maxTurns, at: index + 1 })),
  );
  it.each(
    positions.flatMap(({ maxTurns, at }) =>
      endings.map(([what, reply, outcome, emitted]) => ({ maxTurns, at, what, reply, outcome, emitted })),
    ),
  )('A10-A12, A19, L3 maxTurns $maxTurns, $what at turn $at: $outcome', ({ maxTurns, at, reply, outcome, emitted }) => {
    const events = play({ maxTurns }, [...says(at - 1), reply]);
    const code = 'failure' in reply ? reply.failure.code : '';
    const error = emitted ? [`error ${at} ${at % 2 === 1 ? 'B>A' : 'A>B'} ${code}`] : [];
    expect(events.map(line)).toEqual([...turns(at - 1), ...error, `complete A>B ${outcome}`]);
    expect(JSON.stringify(events)).not.toContain('REPLY_SKIP');
  });

  it('A11 a text that contains the token is a turn', () => {
    const events = play({ maxTurns: 0 }, [{ text: 'I say REPLY_SKIP now' }]);
    expect(events.map(line)[1]).toBe('1 B>A I say REPLY_SKIP now');
  });

  it('A15 without a requester it is unknown, and there is no loop', () => {
    const events = play({ requester: undefined }, says(1));
    expect(events.map(line)).toEqual(['0 unknown>B hello', '1 B>unknown t1', 'complete unknown>B done']);
  });

  it('A22 with itself there is no loop', () => {
    expect(play({ requester: 'B' }, says(1), true).map(line)).toEqual(['0 B>B hello', '1 B>B t1', 'complete B>B done']);
  });

  it('A3, A4, A13, L3 the events have exactly these keys', () => {
    const [turn, error, complete] = play({ maxTurns: 0 }, [THROWN]);
    const envelope = ['cseq', 'data', 'runId', 'seq', 'sessionKey', 'stream', 'ts'];
    const names = ['conversationId', 'fromAgent', 'toAgent', 'phase'];
    expect(Object.keys(turn ?? {}).toSorted()).toEqual(envelope);
    expect(Object.keys(complete ?? {}).toSorted()).toEqual([...envelope, 'outcome'].toSorted());
    expect(Object.keys(turn?.data ?? {}).toSorted()).toEqual([...names, 'turn', 'maxTurns', 'text'].toSorted());
    expect(Object.keys(error?.data ?? {}).toSorted()).toEqual(
      [...names, 'turn', 'code', 'message', 'retryable'].toSorted(),
    );
    expect(Object.keys(complete?.data ?? {}).toSorted()).toEqual(names.toSorted());
  });

  it('A21 every step has a runId of its own, and seq counts in it', () => {
    const events = play({ maxTurns: 2 }, says(3));
    expect(new Set(events.map(({ runId }) => runId)).size).toBe(events.length);
    expect(events.map(({ seq }) => seq)).toEqual(events.map(() => 1));
    expect(events.map(({ sessionKey }) => sessionKey)).toEqual([
      'conversation:c:requester',
      'conversation:c:target',
      'conversation:c:requester',
      'conversation:c:target',
      'conversation:c',
    ]);
  });

  it('an error that was told ends the conversation, whoever goes on with it', () => {
    const dialogue = new Dialogue({
      conversationId: 'c',
      settings: { requester: 'A', target: 'B', message: 'hello', maxTurns: 5, timeoutMs: 1 },
      self: false,
    });
    for (const event of play({}, [TIMED_OUT]).slice(0, 2)) dialogue.applyEvent(event);
    expect(dialogue.findPending()).toBeUndefined();
    expect(dialogue.draftEnd().outcome).toBe('timeout');
  });
});
