import { SharedUse } from '#libs/expressions';
import { type JsonObject, type JsonValue, userMessage } from '#libs/protocol';
import { outline, played, taskWith, turn } from '../testing/turn.js';
import { InvalidScript, scriptProblems } from './parse-script.js';
import { ScriptedAgent } from './script-node.js';

describe('ScriptedAgent', () => {
  it('does what its steps say and stops at an ending', async () => {
    const agent = new ScriptedAgent({
      otherwise: [
        { status: 'working', text: 'on {{text}}' },
        { artifact: { name: 'out', parts: [{ data: { said: ['{{text}}'] } }] } },
        { artifact: { artifactId: 'log', parts: [{ text: 'a' }], append: true, lastChunk: false } },
        { echo: true },
        { complete: 'done with {{text}}' },
        { fail: 'never' },
      ],
    });
    const events = await played(agent, turn('it'));
    expect(outline(events)).toEqual(['working', 'artifact', 'artifact', 'artifact', 'completed']);
    expect(events).toMatchObject([
      { statusUpdate: { status: { message: { parts: [{ text: 'on it' }] } } } },
      { artifactUpdate: { artifact: { artifactId: 'step-1-2', name: 'out', parts: [{ data: { said: ['it'] } }] } } },
      { artifactUpdate: { artifact: { artifactId: 'log' }, append: true, lastChunk: false } },
      { artifactUpdate: { artifact: { artifactId: 'step-1-4', parts: [{ text: 'it' }] } } },
      { statusUpdate: { status: { message: { parts: [{ text: 'done with it' }] } } } },
    ]);
  });

  it.each([
    [{ ask: 'which?' }, 'input_required'],
    [{ authorize: 'who?' }, 'auth_required'],
    [{ fail: 'no' }, 'failed'],
    [{ reject: 'no' }, 'rejected'],
    [{ complete: true }, 'completed'],
    [{ complete: '' }, 'completed'],
  ])('ends the turn with %j', async (step, state) => {
    expect(outline(await played(new ScriptedAgent({ otherwise: [step, { status: 'working' }] }), turn('x')))).toEqual([
      state,
    ]);
  });

  it('runs the first rule whose conditions all hold', async () => {
    const agent = new ScriptedAgent({
      rules: [
        { when: { turn: 2 }, steps: [{ complete: 'second' }] },
        { when: { messageId: '^m-', text: 'b+' }, steps: [{ complete: 'both' }] },
        { when: { text: '(?i)HELLO' }, steps: [{ complete: 'text' }] },
      ],
      otherwise: [{ complete: 'otherwise' }],
    });
    const words = async (...args: Parameters<typeof turn>) => (await played(agent, turn(...args))).at(-1);
    const said = (text: string) => ({ statusUpdate: { status: { message: { parts: [{ text }] } } } });
    expect(await words('say hello')).toMatchObject(said('text'));
    expect(await words(userMessage('abba', { messageId: 'm-1' }))).toMatchObject(said('both'));
    expect(await words('abba')).toMatchObject(said('otherwise'));
    expect(await words('hello', { task: taskWith('first', 'which?') })).toMatchObject(said('second'));
  });

  it('answers with a direct Message where its first step is a reply', () => {
    const agent = new ScriptedAgent({
      rules: [{ when: { text: '^hi' }, steps: [{ reply: [{ text: 'you said {{text}}' }] }] }],
      otherwise: [{ complete: true }],
    });
    const reply = agent.replyDirectly(userMessage('hi there', { contextId: 'c' }));
    expect(reply).toMatchObject({ role: 'ROLE_AGENT', contextId: 'c', parts: [{ text: 'you said hi there' }] });
    expect(reply).not.toHaveProperty('taskId');
    expect(agent.replyDirectly(userMessage('hi'))).not.toHaveProperty('contextId');
    expect(agent.replyDirectly(userMessage('no'))).toBeUndefined();
    expect(agent.replyDirectly(userMessage('hi', { taskId: 't' }))).toBeUndefined();
  });

  describe('after a crash', () => {
    const script: JsonValue = {
      otherwise: [
        { status: 'working' },
        { sleep: 1_000_000 },
        { artifact: { parts: [{ text: 'a' }] } },
        { complete: true },
      ],
    };

    it.each([2, 3])('goes on after %i recorded events, without the sleeps before them', async (recovered) => {
      const agent = new ScriptedAgent(script);
      expect(agent.recovery).toBe('restart');
      expect(outline(await played(agent, turn('x', { recovered })))).toEqual(
        ['working', 'artifact', 'completed'].slice(recovered),
      );
    });

    it('sleeps again where the step after the sleep was not recorded', async () => {
      const abort = new AbortController();
      const rest = played(new ScriptedAgent(script), turn('x', { recovered: 1, signal: abort.signal }));
      abort.abort();
      await expect(rest).rejects.toThrow('aborted');
    });
  });

  it('gives the same Artifact ids when it runs again', async () => {
    const agent = new ScriptedAgent({ otherwise: [{ status: 'working' }, { echo: true }, { complete: true }] });
    const [whole, rest] = [await played(agent, turn('x')), await played(agent, turn('x', { recovered: 1 }))];
    expect(rest.map((it) => 'artifactUpdate' in it && it.artifactUpdate.artifact.artifactId)).toEqual(
      whole.slice(1).map((it) => 'artifactUpdate' in it && it.artifactUpdate.artifact.artifactId),
    );
  });

  it('wakes from a sleep when the signal aborts', async () => {
    const abort = new AbortController();
    const running = played(
      new ScriptedAgent({ otherwise: [{ sleep: 1_000_000 }, { complete: true }] }),
      turn('x', { signal: abort.signal }),
    );
    abort.abort(new Error('canceled'));
    await expect(running).rejects.toThrow();
  });

  it('takes linear time for an expression that ruins others', () => {
    const agent = new ScriptedAgent({
      rules: [{ when: { text: '^(a+)+$' }, steps: [{ reply: [{ text: 'yes' }] }] }],
      otherwise: [],
    });
    const began = performance.now();
    expect(agent.replyDirectly(userMessage(`${'a'.repeat(20_000)}!`))).toBeUndefined();
    expect(performance.now() - began).toBeLessThan(60_000);
  });
});

describe('scriptProblems', () => {
  it.each<[JsonValue | undefined, string]>([
    [undefined, 'script must be an object with rules and otherwise'],
    [[], 'script must be an object with rules and otherwise'],
    [{ rulez: [] }, 'script has unknown members: rulez'],
    [{ rules: {} }, 'rules must be a list'],
    [{ rules: [1] }, 'rules[0] must be an object'],
    [{ rules: [{ when: { text: '(' } }] }, 'rules[0].when.text is not a regular expression that RE2 knows'],
    [{ rules: [{ when: { text: '(?=a)' } }] }, 'rules[0].when.text is not a regular expression that RE2 knows'],
    [{ rules: [{ when: { turn: 0 } }] }, 'rules[0].when.turn must be a whole number from 1'],
    [{ rules: [{ when: { words: 'x' } }] }, 'rules[0].when has unknown members: words'],
    [{ otherwise: [{ status: 'done' }] }, 'otherwise[0] status must be "working", with a text or without'],
    [{ otherwise: [{ sleep: -1 }] }, 'otherwise[0] sleep must be 0 to 86400000 milliseconds'],
    [{ otherwise: [{ artifact: { parts: [] } }] }, 'otherwise[0] artifact must have at least one part'],
    [
      { otherwise: [{ reply: [{ text: 'a', url: 'b' }] }] },
      'otherwise[0] reply parts must each have exactly one of text, raw, url, data',
    ],
    [{ agent: 1 }, 'agent must be an object'],
    [{ agent: { streams: false } }, 'agent has unknown members: streams'],
    [{ agent: { streaming: 'no' } }, 'agent streaming must be true or false'],
    [{ agent: { inputModes: [] } }, 'agent inputModes must be a list of 1 to 100 media types such as text/plain'],
    [
      { agent: { outputModes: ['text'] } },
      'agent outputModes must be a list of 1 to 100 media types such as text/plain',
    ],
    [
      { agent: { extensions: [{ uri: 'a,b' }] } },
      'agent extensions must be a list of 1 to 100 extensions, each with a uri',
    ],
    [
      { otherwise: [{ throw: 'OUCH' }] },
      expect.stringMatching(
        /^otherwise\[0\] throw must be one of TASK_NOT_FOUND, .*, with a text or without$/,
      ) as string,
    ],
    [{ otherwise: [{ ask: 1 }] }, 'otherwise[0] ask must be a text'],
    [
      { otherwise: [{ ask: 'a', fail: 'b' }] },
      'otherwise[0] must have exactly one of status, artifact, echo, sleep, reply, ask, authorize, complete, fail, reject, throw',
    ],
  ])('says what is wrong with %j', (script, problem) => {
    expect(scriptProblems(script)).toEqual([problem]);
    expect(() => new ScriptedAgent(script)).toThrow(InvalidScript);
  });

  it('finds nothing wrong with a script that uses every step', () => {
    const steps: JsonValue[] = [
      { status: 'working' },
      { artifact: { parts: [{ data: null }] } },
      { echo: true },
      { sleep: 0 },
      { reply: [{ text: '' }] },
      { ask: 'a' },
      { authorize: 'a' },
      { complete: 'a' },
      { complete: null },
      { fail: 'a' },
      { reject: 'a' },
      { throw: 'INTERNAL' },
      { throw: 'TASK_NOT_FOUND', text: 'a' },
    ];
    const agent: JsonObject = {
      inputModes: ['image/*', 'application/vnd.api+json'],
      outputModes: ['*/*'],
      streaming: false,
      pushNotifications: true,
      extensions: [{ uri: 'urn:x', description: 'd', required: true, params: { a: 1 } }, { uri: 'https://x' }],
    };
    const when = { messageId: '.', text: '.', data: { a: [] }, turn: 1 };
    expect(scriptProblems({ agent, rules: [{ when, steps }], otherwise: steps })).toEqual([]);
  });

  const limits = { scriptRules: 3, expressions: 30, expressionSize: 100 };
  const matching = (...texts: string[]): JsonValue => ({
    rules: texts.map((text) => ({ when: { text }, steps: [{ complete: text }] })),
    otherwise: [],
  });

  it.each<[JsonValue, string]>([
    [matching('a', 'b', 'c', 'd'), 'rules must not have more than 3 entries (SCRIPT_RULES_LIMIT)'],
    [
      matching('a'.repeat(20), 'b'.repeat(11)),
      'the regular expressions of the workflow have more than 30 characters (EXPRESSIONS_LIMIT)',
    ],
    [
      matching('(a?){50}'),
      'the regular expressions of the workflow have more than 100 instructions (EXPRESSION_SIZE_LIMIT)',
    ],
  ])('limits rules and expressions', (script, problem) => {
    expect(scriptProblems(script, limits)).toEqual([problem]);
  });

  it('counts the expressions of a whole workflow together', () => {
    const use = new SharedUse();
    expect(scriptProblems(matching('a'.repeat(20)), limits, use)).toEqual([]);
    expect(scriptProblems(matching('b'.repeat(20)), limits, use)).toEqual([
      'the regular expressions of the workflow have more than 30 characters (EXPRESSIONS_LIMIT)',
    ]);
  });

  it('tells at most twenty problems', () => {
    expect(scriptProblems({ otherwise: Array.from({ length: 1_000 }, () => 1) })).toHaveLength(20);
  });
});

describe('texts that rules look at', () => {
  const withStatusText = (text: string): JsonValue => ({ rules: [{ when: { text }, steps: [{ complete: 'found' }] }] });
  const says = async (agent: ScriptedAgent, text: string): Promise<boolean> =>
    (await played(agent, turn(text))).length > 0;

  it('end after 65,536 characters', async () => {
    const agent = new ScriptedAgent(withStatusText('end'));
    expect(await says(agent, `${'x'.repeat(65_533)}end`)).toBe(true);
    expect(await says(agent, `${'x'.repeat(65_534)}end`)).toBe(false);
  });

  it('end earlier where the expressions are large', async () => {
    const agent = new ScriptedAgent(withStatusText('(?:x{500}|end)'));
    expect(await says(agent, `${'y'.repeat(1_000)}end`)).toBe(true);
    expect(await says(agent, `${'y'.repeat(10_000)}end`)).toBe(false);
  });
});
