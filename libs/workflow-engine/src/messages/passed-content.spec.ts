import { AgentClient } from '#libs/a2a-client';
import { type Artifact, dataPart, joinedText, type Part, textPart } from '#libs/protocol';
import type { WorkflowDefinition, WorkflowNode } from '#libs/workflow-definition';
import { useFakeTime } from '../../../../test/support/fake-time.js';
import { answering } from '../testing/answering-agents.js';
import { DrivenRun, workflowOf } from '../testing/driven-run.js';
import { extended } from '../testing/extended-workflow.js';
import { FakeAgents, type FakeCall } from '../testing/fake-agents.js';
import { FakeClock } from '../testing/fake-clock.js';

FakeClock.advance = useFakeTime();

const BYTES = Buffer.alloc(300_000, 7).toString('base64');
const PNG: Part = { raw: BYTES, mediaType: 'image/png', filename: 'chart.png' };
const LINK: Part = { url: 'https://files.test/a.pdf', mediaType: 'application/pdf' };
const DATA = dataPart({ total: 42 });

/** Returns the Part without the metadata about its origin. */
function bare({ metadata, ...part }: Part): Part {
  return metadata?.['adk_thought'] === undefined ? part : { ...part, metadata };
}

/** Artifacts with which an agent answers, each a list of Parts, by a description of the answer. */
const ANSWERS: Record<string, Part[][]> = {
  data: [[DATA]],
  'a file': [[PNG]],
  'an address of a file': [[LINK]],
  'data and a text': [[DATA, textPart('words')]],
  'a file and a text': [[PNG, textPart('words')]],
  'data, then a text of its own': [[DATA], [textPart('words')]],
  'two texts': [[textPart('one')], [textPart('two')]],
};

const says =
  (artifacts: readonly Part[][]) =>
  (call: FakeCall): void => {
    const made = artifacts.map((parts, index): Artifact => ({ artifactId: `a${index}`, parts }));
    call.task('TASK_STATE_COMPLETED', { artifacts: made }).end();
  };

/** Answers with the Parts of the Message, as an output node does. */
const echo = (call: FakeCall): void => call.complete(...(call.request?.message.parts ?? []));

function withModes(agents: FakeAgents, modes: readonly string[]): FakeAgents {
  const { resolveClient: client } = agents;
  agents.resolveClient = async (url) => {
    const found = await client.call(agents, url);
    found.inputModes = async () => modes;
    return found;
  };
  return agents;
}

/**
 * Returns the Parts that a node was sent in its call number `nth` (from 0), without the metadata about their origin.
 */
function sentTo({ agents }: DrivenRun, node: string, nth = 0): Part[] {
  const call = agents.calls.filter((it) => it.node === node)[nth];
  return (call?.request?.message.parts ?? []).map(bare);
}

/** Returns a workflow of the external agent `ext1` and a following node `next` of the given type. */
function behind(type: string, next: Partial<WorkflowNode> = {}): WorkflowDefinition {
  const base = workflowOf('ext1 next', 'ext1>next');
  return extended(base, { next: { type, ...next } });
}

async function ran(definition: WorkflowDefinition, agents: FakeAgents): Promise<DrivenRun> {
  const run = new DrivenRun(definition, agents);
  expect(await run.start([dataPart({})])).toBe('TASK_STATE_COMPLETED');
  return run;
}

/** Returns the Parts of an answer without its first text, in order. */
const othersOf = (artifacts: readonly Part[][]): Part[] => {
  const first = artifacts[0]?.find(({ text }) => text !== undefined);
  return artifacts.flat().filter((part) => part !== first);
};

describe.each(Object.entries(ANSWERS))('an answer that is %s', (_what, artifacts) => {
  const text = artifacts[0]?.find((part) => part.text !== undefined)?.text;
  const whole = [...(text === undefined ? [] : [textPart(text)]), ...othersOf(artifacts)];

  test.each(['agent', 'script', 'output', 'external'])('reaches a next node of type %s', async (type) => {
    const config = { endpoint_url: 'http://remote/next' };
    const run = await ran(
      behind(type, type === 'external' ? { config } : {}),
      answering({ ext1: says(artifacts), next: echo }),
    );
    expect(sentTo(run, 'next')).toEqual(whole);
    expect(run.payloads('parts.left-out')).toEqual([]);
  });

  test('is the result, with the text that it had, whole and in order', async () => {
    const run = await ran(workflowOf('ext1', ''), answering({ ext1: says(artifacts) }));
    const [result] = run.task.artifacts ?? [];
    expect(result?.parts.map(bare)).toEqual(artifacts.flat());
    expect(run.state.stateMap()).toEqual(text === undefined ? {} : { ext1: text });
  });

  test('is the result of an output node behind it, with the text that it had', async () => {
    const run = await ran(behind('output'), answering({ ext1: says(artifacts), next: echo }));
    const [result] = run.task.artifacts ?? [];
    expect(result?.parts.map(bare)).toEqual(whole);
    expect(joinedText(result?.parts ?? [])).toBe(text ?? artifacts[1]?.[0]?.text);
  });

  test('reaches another workflow as text, of which data is JSON, and as files', async () => {
    const run = await ran(
      behind('workflow', { config: { workflow: 'w' } }),
      answering({ ext1: says(artifacts), next: echo }),
    );
    const parts = sentTo(run, 'next');
    const isFile = ({ raw, url }: Part): boolean => (raw ?? url) !== undefined;
    expect(parts.filter(isFile).map(bare)).toEqual(artifacts.flat().filter(isFile));
    expect(parts.every((part) => part.text !== undefined || isFile(part))).toBe(true);
    expect(parts).toHaveLength(whole.length);
    const said = JSON.stringify(parts.map((part) => part.text));
    if (artifacts.flat().includes(DATA)) expect(said).toContain('{\\"total\\":42}');
    expect(run.payloads('parts.left-out')).toEqual([]);
  });

  test('goes through each entry of a list, through a loop, and through a wait', async () => {
    const each = { each: { items: '[1, 2]' }, config: {} };
    const list = { ...behind('script', each), language: 2 as const };
    const run = await ran(list, answering({ ext1: says(artifacts), next: echo }));
    expect([sentTo(run, 'next'), sentTo(run, 'next', 1)]).toEqual([whole, whole]);

    const loop = { ...workflowOf('draft ext1', 'draft>ext1') };
    loop.edges.push({ from: 'ext1', to: 'draft', loop: { max_iterations: 2 } });
    const looped = await ran(loop, answering({ ext1: says(artifacts) }));
    expect(sentTo(looped, 'draft', 1)).toEqual(whole);

    const paused = extended(workflowOf('ext1 pause last', 'ext1>pause pause>last'), {
      pause: { type: 'wait', config: { for: '1s' } },
    });
    const waited = new DrivenRun(paused, answering({ ext1: says(artifacts) }));
    const over = waited.start([dataPart({})]);
    await waited.until('node.waiting pause');
    await waited.clock.pass();
    await over;
    expect(waited.state.getNode('pause').artifacts[0]?.parts.map(bare)).toEqual(whole);
    expect(sentTo(waited, 'last')).toHaveLength(whole.length);
  });

  test('stands beside that of another parent at a join', async () => {
    const definition = workflowOf('ext1 ext2 next', 'ext1>next ext2>next');
    const run = await ran(definition, answering({ ext1: says(artifacts), ext2: says([[textPart('B')], [DATA]]) }));
    const texts = [...(text === undefined ? [] : [text]), 'B'].join('\n\n');
    expect(sentTo(run, 'next')).toEqual([textPart(texts), ...othersOf(artifacts), DATA]);
  });
});

describe('a prompt that names a node', () => {
  const prompted = (prompt: string) => behind('agent', { config: { prompt } });

  test('stands for a file by its size, and the file goes along', async () => {
    const run = await ran(prompted('Look: {{ext1}}'), answering({ ext1: says([[PNG]]) }));
    const [first, ...others] = sentTo(run, 'next');
    expect(first?.text).toContain('"size":300000');
    expect(first?.text?.length).toBeLessThan(20_000);
    expect(others).toEqual([PNG]);
  });

  test('stands for data, and for the first text, and tells what else there was', async () => {
    const data = await ran(prompted('<{{ext1}}>'), answering({ ext1: says([[DATA]]) }));
    expect(sentTo(data, 'next')).toEqual([textPart('<{"total":42}>')]);
    const two = await ran(
      prompted('<{{ext1}}>'),
      answering({ ext1: says([[textPart('one'), DATA], [textPart('two')]]) }),
    );
    expect(sentTo(two, 'next')).toEqual([textPart('<one>')]);
    expect(two.payloads('parts.left-out', 'next')).toEqual([{ count: 2, kinds: ['data', 'text'] }]);
    const both = await ran(prompted('{{ext1}}, {{ext1.data}}'), answering({ ext1: says([[textPart('one'), DATA]]) }));
    expect(both.payloads('parts.left-out')).toEqual([]);
  });
});

describe('what an agent does not take', () => {
  const takesText = ['text/plain'];

  test('goes to it as a text, and the run tells of the files before its answer', async () => {
    const agents = withModes(answering({ ext1: says([[textPart('sum'), DATA, PNG, LINK]]) }), takesText);
    const run = await ran(behind('agent'), agents);
    expect(sentTo(run, 'next').map(({ text }) => text)).toEqual([
      'sum',
      '{"total":42}',
      '[file chart.png, image/png, 300000 bytes]',
      '[file, application/pdf, https://files.test/a.pdf]',
    ]);
    expect(run.payloads('parts.left-out', 'next')).toEqual([{ count: 2, kinds: ['application/pdf', 'image/png'] }]);
    expect(run.steps.indexOf('parts.left-out next')).toBeLessThan(run.steps.indexOf('a2a.received next'));
  });

  test('is passed on where a range covers it', async () => {
    const agents = withModes(answering({ ext1: says([[PNG]]) }), [...takesText, 'image/*']);
    expect(
      sentTo(await ran(behind('external', { config: { endpoint_url: 'http://remote/next' } }), agents), 'next'),
    ).toEqual([PNG]);
  });

  test('is left out of a conversation and of the words of a tool, which tell of it', async () => {
    for (const type of ['conversation', 'tool']) {
      const run = await ran(behind(type), answering({ ext1: says([[textPart('sum'), PNG]]) }));
      expect(sentTo(run, 'next')[0]).toEqual(textPart('sum'));
      expect(run.payloads('parts.left-out')).toEqual([{ count: 1, kinds: ['image/png'] }]);
    }
    const run = await ran(behind('conversation'), answering({ ext1: says([[DATA]]) }));
    expect(sentTo(run, 'next')).toEqual([textPart('{"total":42}')]);
  });

  test('is what is too much for one Message or for all of a run', async () => {
    const huge: Part = { raw: 'A'.repeat(17 * 1024 ** 2), mediaType: 'video/mp4' };
    const run = await ran(behind('output'), answering({ ext1: says([[huge, PNG]]), next: echo }));
    expect(sentTo(run, 'next')).toEqual([textPart('[file, video/mp4, 13369344 bytes]'), PNG]);
    expect(run.payloads('parts.left-out')).toEqual([{ count: 1, kinds: ['video/mp4'] }]);
  });
});

describe('the list that a node with each makes', () => {
  test('keeps the files of its entries beside the data, and tells of what the data does not say', async () => {
    const each = extended(workflowOf('list', ''), { list: { each: { items: '[0, 1, 2]' } } });
    const answers = [[[PNG]], [[textPart('words'), DATA], [textPart('more')]], [[textPart('plain')]]];
    const agents = answering({ list: (call) => says(answers[agents.calls.indexOf(call)] ?? [])(call) });
    const run = await ran({ ...each, language: 2 }, agents);
    expect(run.state.getNode('list').artifacts[0]?.parts).toEqual([dataPart([null, { total: 42 }, 'plain']), PNG]);
    expect(run.payloads('parts.left-out', 'list')).toEqual([{ count: 2, kinds: ['text'] }]);
  });
});

describe('an answer in many pieces', () => {
  test('is kept as one Part, and what a model thought is in no text', async () => {
    const words = Array.from({ length: 2_000 }, (_, index) => textPart(`${index} `));
    const thought: Part = { text: 'let me think', metadata: { adk_thought: true } };
    const run = await ran(behind('agent'), answering({ ext1: says([[thought, ...words]]) }));
    const text = words.map((part) => part.text).join('');
    expect(run.state.getNode('ext1').artifacts[0]?.parts).toEqual([thought, textPart(text)]);
    expect(sentTo(run, 'next')).toEqual([textPart(text)]);
  });
});

describe('an agent that nobody says the media types of', () => {
  test('has none to ask for', async () => {
    expect(await AgentClient.prototype.inputModes.call({ card: undefined })).toBeUndefined();
  });
});
