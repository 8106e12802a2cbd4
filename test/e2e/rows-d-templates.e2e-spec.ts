import type { JsonObject } from '#libs/protocol';
import type { FakeAgent } from '../support/fake-agent.js';
import { answers, answersParts, type FakeBehaviour } from '../support/fake-behaviour.js';
import { useSharedStage } from '../support/shared-stage.js';
import { external, input, linear, unique } from '../support/workflow.js';

const stage = useSharedStage();
let source: FakeAgent;
let target: FakeAgent;

beforeEach(async () => {
  [source, target] = await Promise.all([stage.fake(), stage.fake()]);
});

/** The text that a node with this prompt gets, behind an input node `u` and a node `a` that answers as given. */
async function resolved(prompt: string, answer: FakeBehaviour, inputs: JsonObject = {}): Promise<string | undefined> {
  source.always(answer);
  const run = await stage.api.finish(
    linear(
      unique('d'),
      { ...input('u'), config: { optional: true } },
      external('a', source.url),
      external('z', target.url, { prompt }),
    ),
    inputs,
  );
  expect(run.error).toBeUndefined();
  return target.texts[0];
}

describe('rows D: the template grammar', () => {
  it.each([
    '{{ a }}',
    '{{a-b}}',
    '{{a }}',
    '{{}}',
    '{{a.}}',
    '{{.a}}',
    '{a}',
    '{{a',
    'a}}',
    '{{a..data}}',
    '{{ a.data }}',
  ])('D1 `%s` stays verbatim', async (text) => {
    expect(await resolved(`<${text}>`, answers('value'))).toBe(`<${text}>`);
  });

  it('D1 a reference inside further braces is still a reference', async () => {
    expect(await resolved('{{{a}}}', answers('value'))).toBe('{value}');
  });

  it('D2 {{id}} is the first text of the FIRST Artifact, which its text Parts in a row are together', async () => {
    const two: FakeBehaviour = {
      steps: [
        { artifact: { parts: [{ data: 1 }, { text: 'first ' }, { text: 'second' }, { data: 2 }, { text: 'later' }] } },
        { artifact: { parts: [{ text: 'third' }] } },
        { status: 'TASK_STATE_COMPLETED' },
      ],
    };
    expect(await resolved('[{{a}}]', two)).toBe('[first second]');
  });

  it('D2 without a text it is the data as JSON', async () => {
    expect(await resolved('[{{a}}]', answersParts({ data: { key: 'val', n: [1, 2] } }))).toBe(
      '[{"key":"val","n":[1,2]}]',
    );
  });

  it('D2 without either it is the Artifact itself as JSON', async () => {
    const text = await resolved('{{a}}', answersParts({ url: 'https://example.com/a.png', mediaType: 'image/png' }));
    expect(JSON.parse(text ?? '')).toMatchObject({
      parts: [{ url: 'https://example.com/a.png', mediaType: 'image/png' }],
    });
  });

  it('D3 {{id.data}} is the first data Part as compact JSON', async () => {
    expect(await resolved('Data: {{a.data}}', answersParts({ text: 'words' }, { data: { key: 'val' } }))).toBe(
      'Data: {"key":"val"}',
    );
  });

  it('D3 {{id.data}} of an Artifact without data stays verbatim', async () => {
    expect(await resolved('Data: {{a.data}}', answers('only words'))).toBe('Data: {{a.data}}');
  });

  it('D4 an unknown node stays verbatim', async () => {
    expect(await resolved('Hello {{missing}}', answers('x'))).toBe('Hello {{missing}}');
  });

  it('D4 a node without Artifacts stays verbatim', async () => {
    expect(await resolved('Hello {{a}}', { steps: [{ status: 'TASK_STATE_COMPLETED' }] })).toBe('Hello {{a}}');
  });

  it('D4 a node that has not run when the prompt is read stays verbatim', async () => {
    target.always((call) => answers(String(call.text)));
    const run = await stage.api.finish(
      linear(
        unique('d4'),
        external('x', target.url, { prompt: 'peek {{y}}' }),
        external('y', target.url, { prompt: 'after {{x}}' }),
      ),
    );
    expect(run.status).toBe('completed');
    expect(target.texts).toEqual(['peek {{y}}', 'after peek {{y}}']);
  });

  it.each(['constructor', '__proto__', 'toString', 'hasOwnProperty.data'])(
    'D4 {{%s}} names no node and stays verbatim',
    async (word) => {
      expect(await resolved(`{{${word}}}`, answers('x'))).toBe(`{{${word}}}`);
    },
  );

  it('D5 several references in one prompt', async () => {
    expect(await resolved('{{u}} then {{a}} then {{u}}', answers('two'), { u: 'one' })).toBe('one then two then one');
  });

  it('D5 a prompt without references is unchanged', async () => {
    expect(await resolved('nothing $& $1 \\ here', answers('x'))).toBe('nothing $& $1 \\ here');
  });

  it('D5 replacement patterns of the language have no meaning in a value', async () => {
    expect(await resolved('<{{a}}>', answers("$& $1 $` $'"))).toBe("<$& $1 $` $'>");
  });

  it('D6 any other suffix is as if it were not there', async () => {
    expect(await resolved('{{a.foo.bar}} {{a.text}}', answers('value'))).toBe('value value');
  });

  it('D7 K1 the user input wins in a template, even where the node of that id answered something else', async () => {
    source.always(answers('summary output'));
    const run = await stage.api.finish(
      linear(
        unique('d7'),
        external('input1', source.url),
        external('agent1', source.url, { prompt: 'Summarize: {{input1}}' }),
      ),
      { input1: 'hello world' },
    );
    expect(run.status).toBe('completed');
    expect(source.texts[1]).toBe('Summarize: hello world');
    expect(run.state.agent1).toBe('summary output');
  });

  it('D8 `Summarize this: {{input}}` behind an input node', async () => {
    await stage.api.finish(
      linear(unique('d8'), input('input'), external('s', target.url, { prompt: 'Summarize this: {{input}}' })),
      {
        input: 'hello world',
      },
    );
    expect(target.texts).toEqual(['Summarize this: hello world']);
  });

  it('D7 an input that is not a string is its string form', async () => {
    await stage.api.finish(linear(unique('d7'), input('in'), external('s', target.url, { prompt: '{{in}}' })), {
      in: { k: [1] },
    });
    expect(target.texts).toEqual(['{"k":[1]}']);
  });

  it('D9 what a node answered is not read for templates again', async () => {
    const answer = answers('{{u}} {{a}} {{a.data}}');
    expect(await resolved('got {{a}}', answer, { u: 'hidden' })).toBe('got {{u}} {{a}} {{a.data}}');
  });

  it('D9 nor is what a user put in', async () => {
    expect(await resolved('got {{u}}', answers('value'), { u: '{{a}}' })).toBe('got {{a}}');
  });
});
