import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';
import { useSharedStage } from '../support/shared-stage.js';
import { until } from '../support/until.js';

const PAGE = readFileSync(resolve(import.meta.dirname, '../../docs/WORKFLOWS.md'), 'utf8');

interface Trial {
  inputs: JsonObject;
  /** What a person answers, by node. */
  answers?: Record<string, JsonValue>;
  /** The text of the run's results, as they are. */
  results: string[];
  status?: string;
}

/** Each definition of docs/WORKFLOWS.md, and what comes of it. */
const TRIALS: Record<string, Trial[]> = {
  shout: [{ inputs: { text: 'hello' }, results: ['Say loudly: hello'] }],
  triage: [
    { inputs: { ticket: 'the site is down' }, results: ['Paged: the site is down'] },
    { inputs: { ticket: 'a typo' }, results: ['Queued: a typo'] },
  ],
  fetch: [{ inputs: { url: 'x' }, results: ['From the mirror: x'] }],
  extract: [{ inputs: { text: 'where?' }, results: ['It is in Berlin.'] }],
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

/** The definitions among the JSON of the page. */
function definitions(): JsonObject[] {
  const blocks = [...PAGE.matchAll(/^```json\n([\s\S]*?)^```$/gm)].map(([, text = '']): unknown => JSON.parse(text));
  return blocks.filter(
    (block): block is JsonObject => isJsonObject(block as JsonValue) && 'nodes' in (block as object),
  );
}

const stage = useSharedStage();

describe('the definitions of docs/WORKFLOWS.md', () => {
  it('are those that are tried here', () => {
    expect(definitions().map(({ name }) => name)).toEqual(Object.keys(TRIALS));
  });

  it.each(definitions().map((definition) => [definition['name'] as string, definition] as const))(
    '%s is saved without a warning, and does what the page says',
    async (name, definition) => {
      const saved = await stage.api.call<{ problems?: unknown }>('PUT', `/workflows/${name}`, definition);
      expect(saved).toMatchObject({ status: 201 });
      expect(saved.body.problems).toBeUndefined();
      for (const { inputs, answers = {}, results, status = 'completed' } of TRIALS[name] ?? []) {
        const runId = await stage.api.start(name, inputs);
        for (const [node, data] of Object.entries(answers)) {
          await until(async () => (await stage.api.run(runId)).nodes[node]?.status === 'input-required', {
            what: `${node} to ask`,
          });
          const answered = await stage.api.call('POST', `/runs/${runId}/answers`, { node, parts: [{ data }] });
          expect(answered).toMatchObject({ status: 202 });
        }
        const run = await stage.api.ended(runId);
        const texts = run.result?.map(({ parts }) => parts.map(({ text = '' }) => text).join(''));
        expect({ status: run.status, texts, error: run.error }).toEqual({ status, texts: results, error: undefined });
      }
    },
  );
});
