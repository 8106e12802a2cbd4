import { doingNow, transcriptOf } from './transcript.js';
import { END, QUESTION, TEXT, toolCalled, type WorkEvent, withWork, workIn } from './work-event.js';

const second = (at: number): string => new Date(at * 1000).toISOString();
/** Creates events whose times are one second apart. */
const work = (...events: [type: string, payload: object][]): WorkEvent[] =>
  events.map(([type, payload], index) => ({ type, payload: payload as WorkEvent['payload'], at: second(index) }));

const usage = { inputTokens: 3, outputTokens: 4 };
const call = { tool: 'docs/erase', id: 'c1', args: { page: 'old' } };
const asked: [string, object][] = [
  ['model.request', { model: 'house', step: 1 }],
  [TEXT, { parts: [{ text: 'Let me ' }] }],
  [TEXT, { parts: [{ text: 'see.' }], append: true }],
  ['model.response', { model: 'house', step: 1, usage, toolCalls: [call] }],
];

describe('the transcript of an agent', () => {
  it('has what a model said, with its tokens and time, and the calls that it asked for', () => {
    const { steps, usage: all } = transcriptOf(work(...asked));
    expect(steps).toMatchObject([
      {
        kind: 'model',
        state: 'completed',
        model: 'house',
        step: 1,
        parts: [{ text: 'Let me see.' }],
        usage,
        from: second(0),
        to: second(3),
      },
      { kind: 'tool', state: 'pending', tool: 'docs/erase', args: { page: 'old' }, made: 0 },
    ]);
    expect(all).toEqual(usage);
  });

  it('shows a call that waits for a yes, that it was said, and the result', () => {
    const events = work(...asked, [QUESTION, { text: 'May it?' }], ['tool.call', { ...call, step: 1 }]);
    const [, waiting] = transcriptOf(events.slice(0, 5)).steps;
    expect(waiting).toMatchObject({ state: 'input-required', question: { text: 'May it?', at: second(4) } });
    const [, running] = transcriptOf(events).steps;
    expect(running).toMatchObject({ state: 'running', made: 1, question: { answer: 'yes', answeredAt: second(5) } });
    const result = { type: 'tool.result', payload: { tool: call.tool, id: 'c1', result: 'gone', truncated: true } };
    const [, done] = transcriptOf([...events, { ...result, at: second(7) }]).steps;
    expect(done).toMatchObject({ state: 'completed', result: 'gone', truncated: true, from: second(5), to: second(7) });
  });

  it('tells that a call was refused, by whom it was asked or by its tool', () => {
    const refused = { tool: call.tool, id: 'c1', error: 'the call was refused' };
    const [, step] = transcriptOf(work(...asked, [QUESTION, { text: 'May it?' }], ['tool.result', refused])).steps;
    expect(step).toMatchObject({ state: 'failed', error: 'the call was refused', question: { answer: 'no' }, made: 0 });
    const failed = work(...asked, ['tool.call', call], ['tool.result', { ...refused, error: 'no such page' }]);
    expect(transcriptOf(failed).steps[1]).toMatchObject({ state: 'failed', error: 'no such page', made: 1 });
  });

  it('tells why a model gave no answer, and which one was asked in its place', () => {
    const { steps } = transcriptOf(
      work(
        ['model.request', { model: 'busy', step: 1 }],
        ['model.error', { model: 'busy', step: 1, status: 429, message: 'too much', next: 'house' }],
        ['model.request', { model: 'house', step: 1 }],
        [TEXT, { parts: [{ text: 'Hi' }] }],
      ),
    );
    expect(steps).toMatchObject([
      { state: 'failed', error: 'too much', next: 'house' },
      { state: 'running', model: 'house', parts: [{ text: 'Hi' }] },
    ]);
  });

  it('ends what was under way with the Task, and a step that is made again', () => {
    const cut = transcriptOf(work(...asked, ['tool.call', call], [END, {}])).steps;
    expect(cut.map(({ state }) => state)).toEqual(['completed', 'canceled']);
    const request: [string, object] = ['model.request', { model: 'house', step: 1 }];
    const again = transcriptOf(work(request, [TEXT, { parts: [{ text: 'Ha' }] }], request)).steps;
    expect(again).toMatchObject([{ state: 'canceled' }, { state: 'running', parts: [] }]);
  });

  it('takes a result that comes twice for one, and a call of another answer with the same id for another one', () => {
    const result: [string, object] = ['tool.result', { tool: call.tool, id: 'c1', result: 'gone' }];
    const twice = transcriptOf(work(...asked, ['tool.call', call], result, result)).steps;
    expect(twice).toMatchObject([{ kind: 'model' }, { kind: 'tool', args: { page: 'old' }, result: 'gone' }]);
    const again = transcriptOf(work(...asked, ['tool.call', call], result, ...asked, ['tool.call', call])).steps;
    expect(again.map(({ state }) => state)).toEqual(['completed', 'completed', 'completed', 'running']);
    expect(new Set(again.map(({ key }) => key)).size).toBe(4);
  });

  it('takes anything that an agent elsewhere says', () => {
    const odd = { toString: null };
    const events = work(
      ['model.request', { model: odd, step: odd }],
      ['model.error', { message: odd }],
      ['tool.call', { tool: odd, id: odd, args: null }],
      ['tool.result', { tool: odd }],
    );
    expect(transcriptOf(events).steps.map(({ kind }) => kind)).toEqual(['model', 'tool', 'tool']);
    expect(toolCalled(events.slice(0, 3))).toBeUndefined();
  });

  it('has the one call of a tool node, which has no id', () => {
    const { steps } = transcriptOf(
      work(['tool.call', { tool: 'docs/find', args: {} }], ['tool.result', { tool: 'docs/find', result: [1] }]),
    );
    expect(steps).toMatchObject([{ kind: 'tool', tool: 'docs/find', state: 'completed', result: [1], made: 1 }]);
  });

  it('says what the agent does just now', () => {
    const now = (events: WorkEvent[]) => doingNow(transcriptOf(events));
    expect(now(work(...asked.slice(0, 1)))).toBe('asks house');
    expect(now(work(...asked.slice(0, 2)))).toBe('writes');
    expect(now(work(...asked, ['tool.call', call]))).toBe('calls docs/erase');
    expect(now(work(...asked, [QUESTION, {}]))).toBe('asks about docs/erase');
    expect(now([])).toBeUndefined();
  });
});

describe('a call of an agent', () => {
  const asked = { tool: 'agent:poet', id: 'c', args: { message: 'go' } };
  const events = [
    { type: 'tool.call', payload: asked, at: '1' },
    { type: 'tool.called', payload: { ...asked, agent: 'poet', taskId: 'task-of-poet' }, at: '2' },
    { type: QUESTION, payload: { text: 'The agent asks: Which color?' }, at: '3' },
    { type: 'tool.result', payload: { ...asked, result: { status: 'completed' } }, at: '4' },
  ];

  it('has the task of the agent, and its question, which is not about the call', () => {
    expect(toolCalled(events.slice(0, 2))).toBe('agent:poet');
    const { steps } = transcriptOf(events.slice(0, 3));
    expect(steps).toMatchObject([{ state: 'input-required', taskId: 'task-of-poet', question: { byAgent: true } }]);
    const [step] = transcriptOf(events).steps;
    expect(step).toMatchObject({ state: 'completed', question: { answeredAt: '4' } });
    expect(step).not.toHaveProperty('question.answer');
  });
});

describe('what an agent tells of its work', () => {
  const status = (state: string, more: object = {}) => ({
    statusUpdate: { taskId: 't', contextId: 'c', status: { state, timestamp: second(1) }, ...more },
  });

  it('is read from the events of its Task', () => {
    const note = { type: 'tool.call', payload: call };
    expect(workIn(status('TASK_STATE_WORKING', { metadata: { 'parley/event': note } }))).toEqual({
      ...note,
      at: second(1),
    });
    const artifact = { artifactId: 'a', parts: [{ text: 'x' }] };
    expect(workIn({ artifactUpdate: { taskId: 't', contextId: 'c', artifact, append: true } })).toEqual({
      type: TEXT,
      payload: { parts: [{ text: 'x' }], append: true },
    });
    expect(workIn(status('TASK_STATE_FAILED'))).toEqual({ type: END, payload: {}, at: second(1) });
    expect(workIn(status('TASK_STATE_WORKING'))).toBeUndefined();
  });

  it('keeps the pieces of one answer as one', () => {
    const piece = (text: string, append: boolean): WorkEvent => ({
      type: TEXT,
      payload: { parts: [{ text }], append },
    });
    const [first, ...others] = [piece('a', false), piece('b', true), piece('c', true)].reduce(withWork, []);
    expect(first?.payload['parts']).toEqual([{ text: 'abc' }]);
    expect(others).toEqual([]);
    expect(withWork([piece('a', false)], piece('b', false))).toMatchObject([{ payload: { parts: [{ text: 'b' }] } }]);
  });
});
