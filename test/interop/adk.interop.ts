import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { echo, external, input, linear, output, script, textOf, unique } from '../support/workflow.js';
import { FakeModel, serveAdk } from './adk/adk-agents.js';
import { AdkCaller, textsOf } from './adk/adk-caller.js';
import { useInteropStage } from './interop-stage.js';

const CARD = '.well-known/agent-card.json';

describe('Parley calls an agent of ADK', () => {
  const stage = useInteropStage();

  async function agent(answer: ConstructorParameters<typeof FakeModel>[0], basePath?: string): Promise<string> {
    const { base, stop } = await serveAdk(new FakeModel(answer), basePath);
    stage.defer(stop);
    return base;
  }

  const asked = (url: string, topic = 'tea') =>
    stage.api.finish(linear(unique('adk'), input('in'), external('adk', url), output('out')), { in: topic });

  for (const basePath of ['', '/agents/fake']) {
    for (const [what, ending] of [
      ['its base URL', ''],
      ['its base URL with a slash', '/'],
      ['the URL of its card', `/${CARD}`],
    ] as const) {
      it(`by ${what}, served at "${basePath}/"`, async () => {
        const base = await agent((text) => [`about ${text}`], basePath);
        const run = await asked(`${base}${ending}`);
        assert.equal(run.error?.message, undefined);
        assert.equal(textOf(run.result), 'about tea');
      });
    }
  }

  it('takes all that its model streams, once', async () => {
    const base = await agent((text) => ['one ', `${text} `, 'three']);
    assert.equal(textOf((await asked(base)).result), 'one tea three');
  });

  it('tells its failure', async () => {
    const base = await agent(() => {
      throw new Error('the model is out');
    });
    const run = await asked(base);
    assert.equal(run.status, 'failed');
    assert.match(run.error?.message ?? '', /external agent .* failed/);
  });

  it('is told that it cannot be canceled', async () => {
    const begun = Promise.withResolvers<void>();
    const released = Promise.withResolvers<string[]>();
    const base = await agent(() => {
      begun.resolve();
      return released.promise;
    });
    const { name } = await stage.api.save(linear(unique('adk'), external('adk', base)));
    const runId = await stage.api.start(name);
    await begun.promise;
    const { body } = await stage.api.call<{ status: string; children: object[] }>('POST', `/runs/${runId}/cancel`);
    released.resolve(['too late']);
    assert.deepEqual([body.status, body.children.length], ['canceled', 1]);
    assert.deepEqual(body.children[0], { ...body.children[0], node: 'adk', outcome: 'refused' });
  });
});

describe('ADK calls Parley', () => {
  const stage = useInteropStage();

  async function workflow(...nodes: Parameters<typeof linear>[1][]): Promise<string> {
    const { name } = await stage.api.save(linear(unique('adk'), ...nodes));
    return name;
  }

  const last = (texts: string[]): string | undefined => texts.filter((text) => text !== '').at(-1);

  it('a workflow, by its base URL', async () => {
    const name = await workflow(input('in'), echo('a'), output('out'));
    const events = await new AdkCaller(`${stage.api.base(name)}/`).say('tea');
    assert.deepEqual(
      events.flatMap(({ errorMessage }) => errorMessage ?? []),
      [],
    );
    assert.equal(last(textsOf(events)), 'tea');
  });

  for (const [what, ending] of [
    ['without a slash at the end', ''],
    ['of its card', `/${CARD}`],
  ] as const) {
    it(`finds no card by a URL ${what}: it takes the last word of it for a file`, async () => {
      const base = stage.api.base(await workflow(echo('a')));
      await assert.rejects(new AdkCaller(`${base}${ending}`).say('tea'), /Failed to fetch Agent Card .* 404/);
    });
  }

  it('a node, by its base URL', async () => {
    const name = await workflow(
      input('in'),
      script('a', { artifact: { parts: [{ text: '[{{text}}]' }] } }, { complete: true }),
    );
    const events = await new AdkCaller(`${stage.api.base(name, 'a')}/`).say('tea');
    assert.equal(last(textsOf(events)), '[tea]');
  });

  it('a node by its alias', async () => {
    const id = unique('alias');
    await workflow(input('in'), echo(id));
    const events = await new AdkCaller(`${stage.parley.url}/a2a/nodes/${id}/`).say('tea');
    assert.equal(last(textsOf(events)), 'tea');
  });

  it('hears why a workflow failed', async () => {
    const name = await workflow(script('a', { fail: 'no tea left' }));
    const events = await new AdkCaller(`${stage.api.base(name)}/`).say('tea');
    assert.match(JSON.stringify(events), /no tea left/);
  });

  it('hears a question, and begins anew with what is said then: it names no Task', async () => {
    const name = await workflow(script('a', { ask: 'Which tea?' }));
    const caller = new AdkCaller(`${stage.api.base(name)}/`);
    for (const text of ['tea', 'green']) assert.match(JSON.stringify(textsOf(await caller.say(text))), /Which tea\?/);
    const { body } = await stage.api.call<{ runs: { status: string }[] }>('GET', `/runs?workflow=${name}`);
    assert.deepEqual(
      body.runs.map(({ status }) => status),
      ['input-required', 'input-required'],
    );
  });

  it('keeps its context over Messages', async () => {
    const name = await workflow(input('in'), echo('a'), output('out'));
    const caller = new AdkCaller(`${stage.api.base(name)}/`);
    await caller.say('one');
    const events = await caller.say('two');
    assert.equal(last(textsOf(events)), 'two');
    const { body } = await stage.api.call<{ runs: { contextId: string }[] }>('GET', `/runs?workflow=${name}`);
    assert.equal(body.runs.length, 2);
    assert.equal(new Set(body.runs.map(({ contextId }) => contextId)).size, 1);
  });
});
