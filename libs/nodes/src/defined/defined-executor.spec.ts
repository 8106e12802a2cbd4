import { createHash, randomBytes } from 'node:crypto';
import { Failure, StepError, type Work, type WorkContext } from '#libs/agent-sdk';
import type { HeldParts } from '#libs/agents';
import { firstData, joinedText, type Part, userMessage, withBytes, withKeptFile } from '#libs/protocol';
import { ContentRooms, InFlight, Metrics } from '#libs/service';
import type { NodeEvent } from '../node-executor.js';
import { TaskDriver } from '../testing/task-driver.js';
import { outline } from '../testing/turn.js';
import { DefinedExecutor } from './defined-executor.js';
import type { DefinedWork } from './work-execution.js';
import type { Sealer } from './work-log.js';

/** Sealer that encodes instead of encrypting, and opens a text only for the place for which it was sealed. */
const sealer: Sealer = {
  seal: (secret, place) => Buffer.from(JSON.stringify([secret, place])).toString('base64'),
  open(sealed, place) {
    const [secret, home] = JSON.parse(Buffer.from(sealed, 'base64').toString()) as [string, string[]];
    if (JSON.stringify(home) !== JSON.stringify(place)) throw new Error('another place');
    return secret;
  },
};

function driverOf(run: (ctx: WorkContext) => Work, message?: ConstructorParameters<typeof TaskDriver>[1]): TaskDriver {
  return new TaskDriver(new DefinedExecutor({ name: 'answer', run }, sealer), message);
}

function steps({ log }: TaskDriver): string[] {
  return outline(log.slice(1) as NodeEvent[]);
}

/** Returns the Artifacts of a Task: for each its name, its text and its data, if present. */
function artifactsOf({ task }: TaskDriver): unknown[] {
  return (task.artifacts ?? []).map(({ name, parts }) =>
    [name, joinedText(parts), firstData(parts)].filter((it) => it !== undefined),
  );
}

function lastText({ task }: TaskDriver): string | undefined {
  return task.status.message?.parts[0]?.text;
}

describe('work that an author defined', () => {
  it('says text, gives Artifacts, and returns a value', async () => {
    const driver = driverOf(async function* ({ text, artifact }) {
      yield `you said ${text}`;
      yield ', and I heard';
      yield artifact('offer', { data: { price: 3 } });
      return { done: true };
    }, 'hello');
    await driver.run();
    expect(steps(driver)).toEqual(['working', 'artifact', 'artifact', 'artifact', 'completed']);
    expect(artifactsOf(driver)).toEqual([
      ['answer', 'you said hello, and I heard', { done: true }],
      ['offer', { price: 3 }],
    ]);
  });

  it('marks the last piece of a text that came in pieces, also after a crash (ADK)', async () => {
    const chunksOf = ({ log }: TaskDriver): (boolean | undefined)[] =>
      log.flatMap((event) => ('artifactUpdate' in event ? [event.artifactUpdate.lastChunk] : []));
    const inPieces = driverOf(async function* ({ step }) {
      yield 'in ';
      await step('pause', async () => 1);
      yield 'pieces';
      await step('rest', async () => 2);
    });
    await inPieces.run();
    expect(artifactsOf(inPieces)).toEqual([['answer', 'in pieces']]);
    expect([chunksOf(inPieces).at(-1), chunksOf(inPieces).filter(Boolean)]).toEqual([true, [true]]);
    for (let events = 2; events < inPieces.log.length; events += 1) {
      const crashed = driverOf(async function* ({ step }) {
        yield 'in ';
        await step('pause', async () => 1);
        yield 'pieces';
        await step('rest', async () => 2);
      });
      await crashed.run(events);
      await crashed.run();
      const chunks = chunksOf(crashed);
      expect({ events, chunks: [chunks.at(-1), chunks.filter(Boolean).length] }).toEqual({ events, chunks: [true, 1] });
      expect(artifactsOf(crashed)).toEqual([['answer', 'in pieces']]);
    }
  });

  it('reads the bytes of files that the log names, and gives none of its own twice', async () => {
    const file = { id: 'f', size: 3, sha256: createHash('sha256').update('abc').digest('hex') };
    const raw = Buffer.from('abc').toString('base64');
    const kept = withKeptFile({ raw, mediaType: 'image/png' }, 'http://parley/api/files/f', file);
    const holdParts = async (parts: readonly Part[]): Promise<HeldParts> => ({
      parts: parts.map((part) => (part.url === undefined ? part : withBytes(part, raw))),
      [Symbol.dispose]: () => undefined,
    });
    const seen: unknown[] = [];
    const work: DefinedWork = {
      name: 'answer',
      async *run({ message, artifact, ask }) {
        seen.push(message.parts);
        yield artifact('copy', { parts: message.parts });
        await ask('more?');
      },
    };
    const driver = new TaskDriver(new DefinedExecutor(work, sealer), userMessage([kept]), { holdParts });
    await driver.run();
    // In a real log, the Part has the URL of the stored file instead of the bytes.
    const logged = driver.log.find((event) => 'artifactUpdate' in event);
    logged!.artifactUpdate.artifact.parts = [kept];
    driver.answer('no');
    await driver.run();
    expect(seen).toEqual([[{ raw, mediaType: 'image/png' }], [{ raw, mediaType: 'image/png' }]]);
    expect(driver.log.filter((event) => 'artifactUpdate' in event)).toHaveLength(1);
    expect(driver.state).toBe('completed');
  });

  it.each<[string, string, DefinedWork['run']]>([
    ['ends', 'completed', async () => 'done'],
    ['asks', 'input_required', (ctx) => ctx.ask('more?')],
    ['fails', 'failed', async (ctx) => ctx.fail('no')],
    ['throws', 'working', () => Promise.reject(new TypeError('internal'))],
    ['is aborted', 'working', () => new Promise(() => undefined)],
  ])('counts the bytes of its Message in flight until it %s', async (how, state, run) => {
    const memory = { inFlightBytes: 16 * 1024 ** 2, callerInFlightBytes: 16 * 1024 ** 2 };
    const inFlight = new InFlight({ memory } as never, new Metrics());
    const { workParts } = new ContentRooms({ memory } as never, inFlight);
    const holdParts = async (parts: readonly Part[]): Promise<HeldParts> => {
      const place = workParts.openPlace({ tenant: '', owner: 'ann' });
      await place.holdBytes(1024 ** 2, new AbortController().signal);
      return { parts: [...parts], [Symbol.dispose]: () => place[Symbol.dispose]() };
    };
    let atWork: number | undefined;
    const work: DefinedWork = {
      name: 'answer',
      run(ctx) {
        atWork = inFlight.total;
        if (how === 'is aborted') setImmediate(() => driver.cancel());
        return run(ctx);
      },
    };
    const driver: TaskDriver = new TaskDriver(new DefinedExecutor(work, sealer), 'hello', { holdParts });
    await driver.run().catch((error: unknown) => error);
    expect([atWork, inFlight.total, driver.state]).toEqual([1024 ** 2, 0, state]);
  });

  it.each<[string, unknown, string]>([
    ['no data', { data: undefined }, 'parts must each have exactly one of text, raw, url, data'],
    ['a text that is none', { text: 5 }, 'parts must each have exactly one of text, raw, url, data'],
    [
      'a Part of nothing',
      { parts: [{ mediaType: 'text/plain' }] },
      'parts must each have exactly one of text, raw, url, data',
    ],
    ['no Parts', { parts: [] }, 'must have at least one part'],
    ['nothing', {}, 'must have at least one part'],
  ])('fails with a sentence for an Artifact with %s', async (_what, content, problem) => {
    const driver = driverOf(async function* ({ artifact }) {
      yield artifact('offer', content as never);
    });
    await driver.run();
    expect([driver.state, lastText(driver)]).toEqual(['failed', `Error: the Artifact "offer": ${problem}`]);
    expect(artifactsOf(driver)).toEqual([]);
  });

  it('fails with a sentence for a question that is no text', async () => {
    const driver = driverOf((ctx) => ctx.ask(undefined as never));
    await driver.run();
    expect([driver.state, lastText(driver)]).toEqual(['failed', 'Error: the question must be a text']);
  });

  it('may be a function that returns', async () => {
    const driver = driverOf(async ({ text }) => text.toUpperCase(), 'hello');
    await driver.run();
    expect([driver.state, artifactsOf(driver)]).toEqual(['completed', [['answer', 'HELLO']]]);
  });

  it.each([
    ['rejected', 'no', async (ctx: WorkContext) => ctx.reject('no')],
    ['failed', 'Error: no', async (ctx: WorkContext) => ctx.fail('no')],
    ['rejected', 'no', (ctx: WorkContext) => attempt(() => ctx.reject('no'))],
    ['failed', 'Error: sold out', () => Promise.reject(new Failure('sold out'))],
    ['failed', 'Error: sold out', (ctx: WorkContext) => ctx.step('buy', () => Promise.reject(new Failure('sold out')))],
  ])('ends as %s with the sentence %s', async (state, sentence, run) => {
    const driver = driverOf(run as (ctx: WorkContext) => Work);
    await driver.run();
    expect([driver.state, lastText(driver)]).toEqual([state, sentence]);
  });

  it('throws what callers must not see', async () => {
    await expect(driverOf(() => Promise.reject(new TypeError('internal'))).run()).rejects.toThrow(TypeError);
    const inAStep = driverOf((ctx) => ctx.step('look', () => Promise.reject(new TypeError('internal'))));
    await expect(inAStep.run()).rejects.toThrow(StepError);
  });

  it('tells nobody what a step gave', async () => {
    const secret = randomBytes(8).toString('hex');
    const driver = driverOf((ctx) => ctx.step('look', () => secret).then(() => 'done'));
    await driver.run();
    expect(JSON.stringify(driver.log)).toContain('"key":"look"');
    expect(JSON.stringify(driver.log)).not.toContain(secret);
  });
});

describe('steps and questions', () => {
  /** Returns work (a DefinedWork function) that records each executed step in `done`. */
  function approval(done: string[]) {
    return async function* (ctx: WorkContext): AsyncGenerator<string | ReturnType<WorkContext['artifact']>, void> {
      yield 'looking';
      const price = await ctx.step('look', ({ idempotencyKey }) => (done.push(`look ${idempotencyKey}`), 2_000));
      const both = await Promise.all(['a', 'b'].map((key) => ctx.step(key, async () => (done.push(key), key))));
      yield ` up ${price} ${both.join('')}`;
      const caught = await ctx.step('fail', () => Promise.reject(new Error('away'))).catch((error: Error) => error);
      yield ctx.artifact('fault', { text: `${(caught as Error).name}: ${(caught as Error).message}` });
      const answer = await ctx.ask('Approve?');
      await ctx.step('after', () => done.push('after'));
      yield ctx.artifact('offer', { data: { answer } });
      yield ', done';
    };
  }

  async function played(done: string[], killAt = Infinity, lazy = false): Promise<TaskDriver> {
    const driver = driverOf(approval(done));
    for (let round = 0; driver.state !== 'completed' && round < 6; round += 1) {
      await driver.run(round === 0 ? killAt : Infinity, lazy);
      if (driver.state === 'input_required') {
        driver.answer('yes');
        if (driver.log.length <= killAt) await driver.run(killAt, lazy);
      }
    }
    return driver;
  }

  const reported = [
    ['answer', 'looking up 2000 ab, done'],
    ['fault', 'StepError: away'],
    ['offer', { answer: 'yes' }],
  ];

  it('are recorded, and a question waits for its answer', async () => {
    const done: string[] = [];
    const driver = await played(done);
    expect(driver.state).toBe('completed');
    expect(artifactsOf(driver)).toEqual(reported);
    expect(done.map((it) => it.split(' ')[0])).toEqual(['look', 'a', 'b', 'after']);
  });

  it.each(['everything is durable at once', 'only what is waited for is durable'])(
    'killed after every event, repeat at most what was under way (%s)',
    async (how) => {
      const whole: string[] = [];
      const { log } = await played(whole);
      for (let at = 1; at < log.length; at += 1) {
        const done: string[] = [];
        const driver = await played(done, at, how.startsWith('only'));
        expect({ at, reported: artifactsOf(driver) }).toEqual({ at, reported });
        expect({ at, done: [...new Set(done)].toSorted() }).toEqual({ at, done: whole.toSorted() });
        // Steps that were executed and not recorded before the crash are executed again: at most the two that ran at
        // that moment.
        expect({ at, more: done.length - whole.length <= 2 }).toEqual({ at, more: true });
        const recorded = driver.log.flatMap((it) => ('statusUpdate' in it && it.statusUpdate.metadata) || []);
        expect({ at, points: recorded.length }).toEqual({ at, points: 6 });
      }
    },
  );

  it('have another order than they had: the Task fails with a sentence', async () => {
    let keys = ['a', 'b'];
    const driver = driverOf(async (ctx) => {
      for (const key of keys) await attempt(() => ctx.step(key, () => key));
      return 'done';
    });
    await driver.run(3);
    keys = ['b', 'a'];
    await driver.run();
    expect([driver.state, lastText(driver)]).toEqual([
      'failed',
      'Error: the work is non-deterministic: the step "a" was recorded as number 1, where the step "b" is now',
    ]);
  });

  it('that are not reached any more fail the Task', async () => {
    let keys = ['a', 'b'];
    const driver = driverOf(async (ctx) => {
      for (const key of keys) await ctx.step(key, () => key);
      return ctx.ask('more?');
    });
    await driver.run();
    driver.answer('yes');
    keys = ['a'];
    await driver.run();
    expect(lastText(driver)).toMatch(
      /non-deterministic: the step "b" was recorded as number 2, where a question is now/,
    );
  });

  it('do not nest', async () => {
    const driver = driverOf((ctx) => ctx.step('outer', () => ctx.step('inner', () => 1)));
    await driver.run();
    expect(lastText(driver)).toBe(
      'Error: the step "inner" is made in the function of the step "outer": steps do not nest',
    );
  });

  it('give what JSON keeps, also at once', async () => {
    const driver = driverOf(async (ctx) => {
      const when = await ctx.step('now', () => ({ at: new Date(0), nothing: undefined }));
      const none = await ctx.step('none', () => undefined);
      return { when, none: none === undefined } as never;
    });
    await driver.run();
    expect(artifactsOf(driver)).toEqual([['answer', { when: { at: '1970-01-01T00:00:00.000Z' }, none: true }]]);
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    const wrong = driverOf((ctx) => ctx.step('round', () => circular).then(() => 'x'));
    await wrong.run();
    expect(lastText(wrong)).toBe('Error: the result of the step "round" cannot be recorded as JSON');
  });

  it('ask again where an answer does not fit the form', async () => {
    const form = { type: 'object', required: ['ok'], properties: { ok: { type: 'boolean' } } };
    const driver = driverOf(async (ctx) => ctx.ask<{ ok: boolean }>('Fine?', form));
    await driver.run();
    driver.answer('perhaps');
    await driver.run();
    expect(driver.state).toBe('input_required');
    expect(JSON.stringify(driver.task.status.message?.metadata)).toContain('"violations"');
    driver.answer([{ data: { ok: true } }]);
    await driver.run();
    expect([driver.state, artifactsOf(driver)]).toEqual(['completed', [['answer', { ok: true }]]]);
  });
});

describe('text that is said once more', () => {
  async function twice(first: string[], second: string[], value?: number): Promise<TaskDriver> {
    let texts = first;
    const driver = driverOf(async function* (ctx) {
      yield* texts;
      await ctx.ask('more?');
      yield '!';
      return value;
    });
    await driver.run();
    driver.answer('yes');
    texts = second;
    await driver.run();
    return driver;
  }

  it.each([
    ['is not told again', ['one ', 'two'], ['one', ' two'], 'one two!'],
    ['goes on where it is longer', ['one'], ['one', ' two'], 'one two!'],
    ['takes the place of what was told where it is another', ['one ', 'two'], ['one three'], 'one three!'],
    ['takes the place of what was told where it is shorter', ['one two'], ['one'], 'one!'],
    ['begins where there was none', [], ['one'], 'one!'],
  ])('%s', async (_, first, second, text) => {
    const driver = await twice(first, second);
    expect(artifactsOf(driver)).toEqual([['answer', text]]);
  });

  it('has its value behind it once', async () => {
    const driver = await twice(['one'], ['one'], 3);
    expect(artifactsOf(driver)).toEqual([['answer', 'one!', 3]]);
  });
});

/** Runs work. Returns `caught` if the work throws, and `went through` otherwise. */
async function attempt(work: () => unknown): Promise<string> {
  try {
    await work();
  } catch {
    return 'caught';
  }
  return 'went through';
}
