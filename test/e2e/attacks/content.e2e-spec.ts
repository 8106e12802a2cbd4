import { rpc, sendParams } from '../../support/a2a.js';
import { besides } from '../../support/beside.js';
import { type Stage, useStage } from '../../support/stage.js';
import {
  input,
  linear,
  output,
  script,
  says,
  unique,
  type Workflow,
  type WorkflowNode,
} from '../../support/workflow.js';
import { takeTurns } from '../../support/turns.js';
import { untilReady } from '../../support/until-ready.js';

takeTurns();

const SMALL_HEAP = { NODE_OPTIONS: '--max-old-space-size=256' };
const stage = useStage({ env: SMALL_HEAP });
const WITHIN = { within: 180_000 };
const RENDERED = (node: string): string =>
  `node "${node}": the rendered text has more than 4194304 characters (RENDERED_TEXT_LIMIT)`;
const MEGABYTE = 1024 ** 2;
let other: string;

beforeAll(async () => {
  const { name } = await stage.api.save(linear(unique('other'), script('a', ...says('here'))));
  other = stage.api.base(name, 'a');
});

/** After each attack the process is there and ready, and nobody was told of an error of ours. */
afterEach(() => expectWell(stage));

async function expectWell({ parley }: Stage): Promise<void> {
  expect(parley.running()).toBe(true);
  await untilReady(parley);
  expect(parley.logs()).not.toMatch(/"level":"(error|fatal)"/);
}

interface Ending {
  status: unknown;
  /** The nodes that failed, and the first failure as the run tells it. */
  failed: (string | undefined)[];
  fault: { node?: unknown; error?: unknown } | undefined;
}

/** Runs it to its end while another caller's Messages are answered, and gives what its events told. */
async function attacked(workflow: Workflow, inputs = {}): Promise<Ending> {
  await stage.api.save(workflow);
  const runId = await stage.api.start(workflow.name, inputs);
  const told = (async (): Promise<Ending> => {
    const ending: Ending = { status: undefined, failed: [], fault: undefined };
    const events = await stage.api.events(runId);
    for (let frame = await events.next(WITHIN); frame !== undefined; frame = await events.next(WITHIN)) {
      const { type, node_id: node, payload } = frame.data;
      if (type === 'node.error') ending.failed.push(node);
      if (type === 'workflow.failed') ending.fault = { node: payload.node, error: payload.error };
      if (type === 'done') ending.status = payload.status;
    }
    return ending;
  })();
  await besides(other, told);
  return told;
}

describe('content that grows', () => {
  it('templates that refer to each other ten times over, six deep', async () => {
    const levels = [1, 2, 3, 4, 5, 6, 7].map((level) =>
      output(`n${level}`, { prompt: `{{n${level - 1}}}`.repeat(10) }),
    );
    const laughs = linear(unique('laughs'), input('n0'), ...levels);
    expect(JSON.stringify(laughs).length).toBeLessThan(2_000);
    const run = await attacked(laughs, { n0: 'ha '.repeat(30) });
    expect(run).toEqual({ status: 'failed', failed: ['n5'], fault: { node: 'n5', error: RENDERED('n5') } });
  });

  it('sixty nodes that each render as much as they may', async () => {
    const text = 'x'.repeat(3 * MEGABYTE);
    const many = Array.from({ length: 60 }, (_, index) => output(`n${index}`, { prompt: '{{a}}' }));
    const edges = many.map(({ id }) => ({ from: 'a', to: id }));
    const run = await attacked({ name: unique('wide'), nodes: [input('a'), ...many], edges }, { a: text });
    expect(run).toMatchObject({ status: 'failed', fault: { node: expect.stringMatching(/^n\d+$/) } });
    expect(run.fault?.error).toContain('(TASK_LIMIT)');
  });

  it('the arguments of a tool', async () => {
    const tool: WorkflowNode = {
      id: 't',
      type: 'tool',
      config: { tool: 'calculator', args: { expression: '{{a}}'.repeat(50_000) } },
    };
    const run = await attacked(linear(unique('tool'), input('a'), tool), { a: 'x'.repeat(5_000) });
    expect(run).toEqual({ status: 'failed', failed: ['t'], fault: { node: 't', error: RENDERED('t') } });
  });

  it('a script that puts its text in over and over', async () => {
    const step = { artifact: { parts: [{ text: '{{text}}'.repeat(25_000) }] } };
    const run = await attacked(linear(unique('script'), input('a'), script('s', step)), { a: 'x'.repeat(100_000) });
    expect(run.fault).toEqual({ node: 's', error: expect.stringContaining('(RENDERED_TEXT_LIMIT)') });
  });

  it('chunks of one artifact without end', async () => {
    const chunk = { artifact: { artifactId: 'r', append: true, parts: [{ text: '{{text}}' }] } };
    const steps = Array.from({ length: 3_000 }, () => chunk);
    const run = await attacked(linear(unique('chunks'), input('a'), script('s', ...steps)), { a: 'x'.repeat(100_000) });
    expect(run.fault).toEqual({
      node: 's',
      error: 'node "s": An artifact has at most 33554432 bytes (ARTIFACT_LIMIT); this one has more.',
    });
  });

  it('artifacts without end', async () => {
    const steps = Array.from({ length: 3_500 }, (_, index) => ({
      artifact: { artifactId: `r${index}`, parts: [{ text: '{{text}}' }] },
    }));
    const run = await attacked(linear(unique('artifacts'), input('a'), script('s', ...steps)), {
      a: 'x'.repeat(200_000),
    });
    expect(run.fault).toEqual({
      node: 's',
      error: 'node "s": The log of a task has at most 67108864 bytes (TASK_LIMIT); this one would have more.',
    });
  });

  it('one text as the input of a thousand nodes is refused', async () => {
    const nodes = Array.from({ length: 1_000 }, (_, index) => input(`n${index}`));
    const { name } = await stage.api.save({ name: unique('inputs'), nodes, edges: [] });
    const text = 'x'.repeat(3 * MEGABYTE);
    const reply = await rpc(`${stage.parley.url}/a2a/workflows/${name}`, 'SendMessage', sendParams(text));
    expect(reply.body.error).toMatchObject({ code: -32602, message: expect.stringContaining('ARTIFACT_LIMIT') });
  });
});

describe('a caller who goes on answering', () => {
  // Each answer reads what there is so far.
  const limited = useStage({ env: { ...SMALL_HEAP, TASK_LIMIT: '16mb' } });

  it('is refused once the Task is as large as it may be', async () => {
    const { name } = await limited.api.save(linear(unique('ask'), script('s', { ask: 'more?' })));
    const base = limited.api.base(name, 's');
    const text = 'x'.repeat(3 * MEGABYTE);
    const first = await rpc<{ task: { id: string } }>(base, 'SendMessage', sendParams(text));
    const taskId = first.body.result?.task.id ?? '';
    let replies = 0;
    for (; replies < 100; replies += 1) {
      const reply = await rpc(base, 'SendMessage', sendParams(text, { fields: { taskId } }));
      if (reply.body.error === undefined) continue;
      expect(reply.body.error).toMatchObject({ code: -32600, message: expect.stringContaining('TASK_LIMIT') });
      break;
    }
    expect(replies).toBeLessThan(8);
    await expectWell(limited);
  });
});
