import type { FakeAgent } from '../support/fake-agent.js';
import { after, answers, answersParts, ends, type FakeBehaviour } from '../support/fake-behaviour.js';
import { type A2aFrame, outline, outlines, Talks } from '../support/conversation.js';
import { ids, range } from '../support/sse.js';
import { useSharedStage } from '../support/shared-stage.js';
import { until } from '../support/until.js';
import { echo, input, linear, script, says, unique } from '../support/workflow.js';

const stage = useSharedStage();
const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

let talks: Talks;
let a: FakeAgent;
let b: FakeAgent;

beforeAll(async () => {
  talks = new Talks(stage.api);
});

beforeEach(async () => {
  a = await stage.fake({ name: 'a' });
  b = await stage.fake({ name: 'b' });
  a.always((_call, index) => answers(`A${index + 1}`));
  b.always((_call, index) => answers(`B${index + 1}`));
});

const between = (fields: Record<string, unknown> = {}) => ({
  requester: a.url,
  target: b.url,
  message: 'hello',
  ...fields,
});

/** What each agent is asked in turn: b for 1, 3, 5; a for 2, 4. */
const TALK = ['0 hello', '1 B1', '2 A1', '3 B2', '4 A2', '5 B3', '6 A3', '7 B4'];

describe('turns', () => {
  it.each([
    [0, 'done'],
    [1, 'max_turns'],
    [3, 'max_turns'],
    [5, 'max_turns'],
  ])('A5-A9, A13, A22 maxTurns %i: turns 0 to maxTurns + 1, then one complete', async (maxTurns, outcome) => {
    const before = Date.now();
    const events = await talks.play(between({ maxTurns }));
    expect(events.map(outline)).toEqual([...TALK.slice(0, maxTurns + 2), `complete ${outcome}`]);
    expect(events.map(({ cseq }) => cseq)).toEqual(range(1, events.length));
    for (const { data, ts } of events) {
      expect(ts).toBeGreaterThanOrEqual(before);
      expect(ts).toBeLessThanOrEqual(Date.now());
      if (data.phase === 'turn') expect(data['maxTurns']).toBe(maxTurns);
    }
  });

  it('A1 the id is a random UUID, the same on every event; A22 five turns unless told otherwise', async () => {
    const id = await talks.start(between());
    expect(id).toMatch(UUID_V4);
    const frames = await (await talks.events(id)).all();
    expect(outlines(frames)).toEqual([...TALK.slice(0, 7), 'complete max_turns']);
    expect(new Set(frames.map(({ data }) => data.data.conversationId))).toEqual(new Set([id]));
    expect(ids(frames)).toEqual(range(1, 8));
    expect(frames.every(({ event }) => event === 'a2a')).toBe(true);
  });

  it('A3, A4, A13, A21 the events have exactly the keys of the rows', async () => {
    const events = await talks.play(between({ maxTurns: 1 }));
    const envelope = ['cseq', 'data', 'runId', 'seq', 'sessionKey', 'stream', 'ts'];
    for (const event of events) {
      const complete = event.data.phase === 'complete';
      expect(Object.keys(event).toSorted()).toEqual(complete ? [...envelope, 'outcome'].toSorted() : envelope);
      expect(event.stream).toBe('a2a');
      expect(Object.keys(event.data).toSorted()).toEqual(
        complete
          ? ['conversationId', 'fromAgent', 'phase', 'toAgent']
          : ['conversationId', 'fromAgent', 'maxTurns', 'phase', 'text', 'toAgent', 'turn'],
      );
    }
    const seen = new Map<string, number>();
    for (const { runId, seq } of events) {
      expect(seq).toBeGreaterThan(seen.get(runId) ?? 0);
      seen.set(runId, seq);
    }
    expect(seen.size).toBe(events.length);
  });

  it('A8, A17 the speakers alternate; each hears what the other said last, after it was told', async () => {
    const events = await talks.play(between({ maxTurns: 4 }));
    const turns = events.filter(({ data }) => data.phase === 'turn');
    for (const [turn, { data }] of turns.entries()) {
      expect([data.fromAgent, data.toAgent]).toEqual(turn % 2 === 0 ? [a.url, b.url] : [b.url, a.url]);
    }
    expect(b.texts).toEqual(['hello', 'A1', 'A2']);
    expect(a.texts).toEqual(['B1', 'B2']);
    const calls = [...a.sends, ...b.sends].toSorted((x, y) => x.at - y.at);
    for (const [index, call] of calls.entries()) {
      expect(turns[index]?.ts).toBeLessThanOrEqual(call.time);
    }
  });

  it('each side keeps a context of its own with its agent, and nothing is sent twice', async () => {
    await talks.play(between({ maxTurns: 4 }));
    for (const agent of [a, b]) {
      const contexts = agent.sends.map(({ message }) => message?.contextId);
      expect(contexts[0]).toBeUndefined();
      expect(new Set(contexts.slice(1)).size).toBe(1);
      expect(agent.sends.every(({ message }) => message?.taskId === undefined && message?.parts.length === 1)).toBe(
        true,
      );
    }
    const messageIds = [...a.sends, ...b.sends].map(({ message }) => message?.messageId);
    expect(new Set(messageIds).size).toBe(5);
  });

  it('an agent that asks is answered on the Task that asks', async () => {
    b.next(ends('TASK_STATE_INPUT_REQUIRED', 'which?')).always(answers('thanks'));
    const events = await talks.play(between({ maxTurns: 2 }));
    expect(events.map(outline)).toEqual(['0 hello', '1 which?', '2 A1', '3 thanks', 'complete max_turns']);
    expect(b.sends[1]?.message?.taskId).toBe(b.taskIds()[0]);
    expect(b.taskIds()).toHaveLength(1);
  });

  it.each(['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED'] as const)(
    'an agent whose Task is %s at the end is not left waiting',
    async (state) => {
      b.next(ends(state, 'which?'));
      await talks.play(between({ maxTurns: 0 }));
      await until(() => b.cancels.length > 0, { what: 'the cancel at the agent' });
      expect(b.cancels).toEqual(b.taskIds());
    },
  );

  it('A15 without a requester it is unknown, and there is no loop', async () => {
    const events = await talks.play({ target: b.url, message: 'hello' });
    expect(events.map(outline)).toEqual(['0 hello', '1 B1', 'complete done']);
    expect(events.map(({ data }) => data.fromAgent)).toEqual(['unknown', b.url, 'unknown']);
  });

  it('A22 with itself there is no loop', async () => {
    const events = await talks.play({ requester: `${b.url}/`, target: b.url, message: 'hello' });
    expect(events.map(outline)).toEqual(['0 hello', '1 B1', 'complete done']);
  });

  it('agents of the service are named by their workflow, their node or their path', async () => {
    const name = unique('talk');
    const node = unique('node');
    await stage.api.save(linear(name, script(node, ...says('from the script'))));
    await stage.api.save(linear(`${name}_echo`, input('in'), echo('only')));
    for (const target of [name, node, `workflows/${name}/nodes/${node}`, `/a2a/workflows/${name}`]) {
      const events = await talks.play({ requester: `${name}_echo`, target, message: 'hello', maxTurns: 2 });
      const said = ['0 hello', '1 from the script', '2 from the script', '3 from the script'];
      expect(events.map(outline)).toEqual([...said, 'complete max_turns']);
      expect(events[1]?.data).toMatchObject({ fromAgent: target, toAgent: `${name}_echo` });
    }
  });

  it('A2, L4 two conversations of the same agents at once never mix', async () => {
    const echoes = (agent: FakeAgent, mark: string): void =>
      void agent.always((call) => after(20, answers(`${call.text}${mark}`)));
    echoes(a, 'a');
    echoes(b, 'b');
    const started = await Promise.all(range(1, 8).map((n) => talks.start(between({ message: `m${n}-` }))));
    expect(new Set(started).size).toBe(8);
    const all = await Promise.all(started.map(async (id) => (await talks.events(id)).all()));
    for (const [index, frames] of all.entries()) {
      const said = ['', 'b', 'ba', 'bab', 'baba', 'babab', 'bababa'];
      const expected = said.map((marks, turn) => `${turn} m${index + 1}-${marks}`);
      expect(outlines(frames)).toEqual([...expected, 'complete max_turns']);
      expect(new Set(frames.map(({ data }) => data.data.conversationId))).toEqual(new Set([started[index]]));
    }
  });

  it('A20 the transcript follows from shuffled events', async () => {
    const id = await talks.start(between({ maxTurns: 3 }));
    const frames = (await (await talks.events(id)).all()).map(({ data }) => data);
    const shuffled = frames.toSorted((x, y) => (x.runId < y.runId ? -1 : 1));
    const turns = shuffled.filter(({ data }) => data.phase === 'turn');
    const rebuilt = turns.toSorted((x, y) => Number(x.data['turn']) - Number(y.data['turn']));
    const { turns: told } = await talks.get(id);
    expect(rebuilt.map(({ data }) => data['text'])).toEqual(told.map(({ text }) => text));
  });
});

describe('endings', () => {
  /** Starts two agents of which one answers a turn so; they talk in all others. */
  async function agentsWith(turn: number, behaviour: FakeBehaviour): Promise<{ requester: string; target: string }> {
    const [requester, target] = [await stage.fake({ name: 'a' }), await stage.fake({ name: 'b' })];
    requester.always((_call, index) => (index === turn / 2 - 1 ? behaviour : answers(`A${index + 1}`)));
    target.always((_call, index) => (index === (turn - 1) / 2 ? behaviour : answers(`B${index + 1}`)));
    return { requester: requester.url, target: target.url };
  }

  /** Plays with ever more time for each turn, as long as it was too little for something that takes any. */
  async function withTime(
    timeoutMs: number,
    play: (limit: { timeoutMs: number }) => Promise<A2aFrame[]>,
    tooLittle: (event: A2aFrame) => boolean,
  ): Promise<A2aFrame[]> {
    const events = await play({ timeoutMs });
    return events.some(tooLittle) && timeoutMs < 15_000 ? withTime(timeoutMs * 4, play, tooLittle) : events;
  }

  const endings: [string, FakeBehaviour, string[], string][] = [
    ['the skip token', answers(' REPLY_SKIP \n'), [], 'skipped'],
    ['an empty reply', answers(''), [], 'skipped'],
    ['no reply at all', { steps: [{ status: 'TASK_STATE_COMPLETED' }] }, [], 'skipped'],
    ['a timeout', { hang: true }, ['TIMEOUT'], 'timeout'],
    ['a throw', { rpcError: { code: -32000, message: 'broken' } }, ['AGENT_ERROR'], 'error'],
  ];
  const positions = [0, 1, 5].flatMap((maxTurns) => range(1, maxTurns + 1).map((turn) => ({ maxTurns, turn })));

  it.each(endings)(
    'A10-A13, A19, A23, K5, L3 %s, at every position for maxTurns 0, 1 and 5',
    async (_what, behaviour, codes, outcome) => {
      const playAt = async ({ maxTurns, turn }: (typeof positions)[number]): Promise<void> => {
        const play = async (limit: { timeoutMs?: number }): Promise<A2aFrame[]> =>
          talks.play(between({ maxTurns, ...limit, ...(await agentsWith(turn, behaviour)) }));
        // Only a side that never answers is waited for so long; one that answers has all the time it needs.
        const inVain = ({ data }: A2aFrame): boolean => data['code'] === 'TIMEOUT' && data['turn'] !== turn;
        const events = codes.includes('TIMEOUT') ? await withTime(1_000, play, inVain) : await play({});
        const errors = codes.map((code) => `error ${turn} ${code}`);
        expect(events.map(outline)).toEqual([...TALK.slice(0, turn), ...errors, `complete ${outcome}`]);
        expect(JSON.stringify(events)).not.toContain('REPLY_SKIP');
        expect(events.map(({ cseq }) => cseq)).toEqual(range(1, events.length));
      };
      await Promise.all(positions.map(playAt));
    },
  );

  it('A11, K6 a text that contains the token is a turn like any other', async () => {
    b.always(answers('I say REPLY_SKIP now'));
    const events = await talks.play(between({ maxTurns: 0 }));
    expect(events.map(outline)).toEqual(['0 hello', '1 I say REPLY_SKIP now', 'complete done']);
  });

  it('L3 the error says which turn, why, and whether it is worth another try; the transcript keeps it', async () => {
    b.always(ends('TASK_STATE_FAILED', 'out of coffee'));
    const id = await talks.start(between());
    const frames = (await (await talks.events(id)).all()).map(({ data }) => data);
    expect(frames.map(outline)).toEqual(['0 hello', 'error 1 AGENT_FAILED', 'complete error']);
    expect(frames[1]?.data).toEqual({
      conversationId: id,
      fromAgent: b.url,
      toAgent: a.url,
      turn: 1,
      code: 'AGENT_FAILED',
      message: 'the agent failed: out of coffee',
      retryable: false,
      phase: 'error',
    });
    expect(await talks.get(id)).toMatchObject({
      status: 'complete',
      outcome: 'error',
      error: { turn: 1, code: 'AGENT_FAILED', retryable: false },
      turns: [{ turn: 0, text: 'hello' }],
    });
  });

  it('an agent that cannot be reached is an error', async () => {
    const gone = await stage.fake({ name: 'gone' });
    const { url } = gone;
    await gone.stop();
    const play = (limit: { timeoutMs: number }) => talks.play(between({ target: url, ...limit }));
    const events = await withTime(500, play, ({ data }) => data['code'] === 'TIMEOUT');
    expect(events.map(outline)).toEqual(['0 hello', 'error 1 AGENT_UNREACHABLE', 'complete error']);
    expect(events[1]?.data).toMatchObject({ retryable: true });
  });

  it('a Task that takes too long is canceled at its agent', async () => {
    const slow = await stage.fake({ name: 'slow', streaming: true });
    slow.always({ steps: [{ status: 'TASK_STATE_WORKING' }, { hold: true }] });
    // A slow machine takes longer to hear of the Task: of one that nobody heard of, nothing is canceled.
    const isKnown = async (id: string): Promise<boolean> => {
      const log = await stage.database.query('SELECT payload FROM task_event WHERE task_id = $1', [id]);
      return JSON.stringify(log).includes(slow.taskIds().at(-1) ?? 'none');
    };
    for (let timeoutMs = 500, known = false; !known; timeoutMs *= 4) {
      const id = await talks.start(between({ target: slow.url, timeoutMs }));
      const frames = await (await talks.events(id)).all();
      expect(outlines(frames)).toEqual(['0 hello', 'error 1 TIMEOUT', 'complete timeout']);
      known = await isKnown(id);
    }
    await until(() => slow.cancels.length > 0, { what: 'the cancel at the agent' });
    expect(slow.cancels).toEqual(slow.taskIds().slice(-1));
  });

  it('an answer of data alone is told as JSON', async () => {
    b.always(answersParts({ data: { answer: 42 } }));
    expect((await talks.play(between({ maxTurns: 0 }))).map(outline)[1]).toBe('1 {"answer":42}');
  });
});

describe('the announcement', () => {
  const announced = (frames: A2aFrame[]): string => JSON.stringify(frames);

  it('A13, A14 the announcing agent hears the last text after the end, and no event tells its reply', async () => {
    const herald = await stage.fake({ name: 'herald' });
    herald.always(answers('hear ye'));
    const id = await talks.start(between({ maxTurns: 1, announce: herald.url }));
    const frames = (await (await talks.events(id)).all()).map(({ data }) => data);
    const call = await herald.sent();
    expect(call.text).toBe('A1');
    expect(frames.at(-1)?.ts).toBeLessThanOrEqual(call.time);
    expect(await talks.reached(id, ({ announcement }) => announcement !== undefined)).toMatchObject({
      announcement: 'delivered',
      outcome: 'max_turns',
    });
    expect(herald.sends).toHaveLength(1);
    const again = (await (await talks.events(id)).all()).map(({ data }) => data);
    expect(again).toEqual(frames);
    expect(announced(again)).not.toContain('hear ye');
  });

  it('A24 the token silences it', async () => {
    const herald = await stage.fake({ name: 'herald' });
    herald.always(answers(' ANNOUNCE_SKIP\n'));
    const id = await talks.start(between({ maxTurns: 0, announce: herald.url }));
    expect(await talks.reached(id, ({ announcement }) => announcement !== undefined)).toMatchObject({
      announcement: 'silenced',
      outcome: 'done',
    });
  });

  it('its failure changes nothing', async () => {
    const herald = await stage.fake({ name: 'herald' });
    herald.always({ httpStatus: 400 });
    const id = await talks.start(between({ maxTurns: 0, announce: herald.url }));
    const done = await talks.reached(id, ({ announcement }) => announcement !== undefined);
    expect(done).toMatchObject({ announcement: 'failed', outcome: 'done', status: 'complete' });
    expect(done.error).toBeUndefined();
    expect(outlines(await (await talks.events(id)).all())).toEqual(['0 hello', '1 B1', 'complete done']);
  });
});
