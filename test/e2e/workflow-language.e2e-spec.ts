import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';
import { useSharedStage } from '../support/shared-stage.js';
import { until } from '../support/until.js';
import { unique } from '../support/workflow.js';

const ROOT = resolve(import.meta.dirname, '../..');
const PAGE = readFileSync(join(ROOT, 'docs/WORKFLOWS.md'), 'utf8');

interface Trial {
  inputs: JsonObject;
  /** What a person answers, by node. */
  answers?: Record<string, JsonValue>;
  /** The text of the run's results, as they are. */
  results: string[];
  status?: string;
}

/** Each definition of docs/WORKFLOWS.md, and what comes of it. */
const OF_THE_PAGE: Record<string, Trial[]> = {
  shout: [{ inputs: { text: 'hello' }, results: ['Say loudly: hello'] }],
  triage: [
    { inputs: { ticket: 'the site is down' }, results: ['Paged: the site is down'] },
    { inputs: { ticket: 'a typo' }, results: ['Queued: a typo'] },
  ],
  fetch: [{ inputs: { url: 'x' }, results: ['From the mirror: x'] }],
  invoice: [{ inputs: { customer: 'Ada' }, results: ['An invoice for Ada'] }],
  extract: [{ inputs: { text: 'where?' }, results: ['It is in Berlin.'] }],
  sums: [{ inputs: { question: 'how many?' }, results: ['how many?'] }],
  polish: [{ inputs: { topic: 'x' }, results: ['draft 3 of x'] }],
  'translate-all': [
    { inputs: { words: ['a', 'b', 'c'] }, results: ['A! B! C!'] },
    { inputs: { words: [] }, results: [''] },
  ],
  outer: [{ inputs: { name: 'Ada' }, results: ['Hello, Ada!'] }],
  publish: [
    { inputs: { article: 'x' }, answers: { gate: { decision: 'yes' } }, results: ['Published: x'] },
    { inputs: { article: 'x' }, answers: { gate: { decision: 'no' } }, results: ['Archived: x'] },
  ],
};

/** The examples of the language, by folder. */
const EXAMPLES: Record<string, Trial[]> = {
  approval: [
    { inputs: { change: { title: 'x', risk: 'low' } }, results: ['Published: Release note: x'] },
    {
      inputs: { change: { title: 'x', risk: 'high' } },
      answers: { approve: { decision: 'no', comment: 'Shorter' } },
      results: ['Kept back: Shorter'],
    },
  ],
  translations: [{ inputs: { text: 'hello' }, results: ['German: hello\nFrench: hello'] }],
  critic: [{ inputs: { topic: 'x' }, results: ['Draft 3 on x. The critic said: Say it with fewer words'] }],
  estimates: [{ inputs: { work: 'x' }, results: ['Two weeks for x\n\nIt took three weeks last time'] }],
};

/** The definitions among the JSON of the page. */
function definitions(): JsonObject[] {
  const blocks = [...PAGE.matchAll(/^```json\n([\s\S]*?)^```$/gm)].map(([, text = '']): unknown => JSON.parse(text));
  return blocks.filter(
    (block): block is JsonObject => isJsonObject(block as JsonValue) && 'nodes' in (block as object),
  );
}

const stage = useSharedStage();

/** Saves it under a name of its own, and runs it. */
async function tries(definition: JsonObject, trials: readonly Trial[]): Promise<void> {
  const name = unique('tried');
  const saved = await stage.api.call<{ problems?: unknown }>('PUT', `/workflows/${name}`, definition);
  expect({ status: saved.status, problems: saved.body.problems }).toEqual({ status: 201, problems: undefined });
  for (const { inputs, answers = {}, results, status = 'completed' } of trials) {
    const runId = await stage.api.start(name, inputs);
    for (const [node, data] of Object.entries(answers)) await answer(runId, node, data);
    const run = await stage.api.ended(runId);
    const texts = run.result?.map(({ parts }) => parts.map(({ text = '' }) => text).join(''));
    expect({ status: run.status, texts, error: run.error }).toEqual({ status, texts: results, error: undefined });
  }
}

async function answer(runId: string, node: string, data: JsonValue): Promise<void> {
  const asks = async (): Promise<boolean> => (await stage.api.run(runId)).nodes[node]?.status === 'input-required';
  await until(asks, { what: `${node} to ask` });
  const answered = await stage.api.call('POST', `/runs/${runId}/answers`, { node, parts: [{ data }] });
  expect(answered).toMatchObject({ status: 202 });
}

describe('the definitions of docs/WORKFLOWS.md', () => {
  it('are those that are tried here', () => {
    expect(definitions().map(({ name }) => name)).toEqual(Object.keys(OF_THE_PAGE));
  });

  it.each(definitions().map((definition) => [definition['name'] as string, definition] as const))(
    '%s is saved without a warning, and does what the page says',
    (name, definition) => tries(definition, OF_THE_PAGE[name] ?? []),
  );
});

describe('the examples of the language', () => {
  it.each(Object.keys(EXAMPLES))('%s is saved without a warning, and does what it says', (folder) => {
    const definition = JSON.parse(readFileSync(join(ROOT, 'examples', folder, 'workflow.json'), 'utf8')) as JsonObject;
    return tries(definition, EXAMPLES[folder] ?? []);
  });
});
