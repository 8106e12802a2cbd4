import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { echo, external, input, linear, output, script, textOf, unique } from '../support/workflow.js';
import { serveAdk } from './adk/adk-agents.js';
import { AdkCaller, textsOf } from './adk/adk-caller.js';
import { cell, noCell } from './cell-tests.js';
import { type Answer, silent } from './fake-model.js';
import { ParleySide } from './parley-side.js';
import { useInteropStage } from './interop-stage.js';

const CARD = '.well-known/agent-card.json';

describe('Parley calls an agent of ADK', () => {
  const stage = useInteropStage();

  const parley = new ParleySide(stage);

  async function agent(answer: Answer, options?: Parameters<typeof serveAdk>[1]): Promise<string> {
    const { base, stop } = await serveAdk(answer, options);
    stage.defer(stop);
    return base;
  }

  cell(['adk', 'called', 'send'], '✓', async () => {
    assert.equal(await parley.answerOf(await agent((text) => [`heard ${text}`])), 'heard about tea');
  });

  cell(['adk', 'called', 'as a tool'], '✓', async () => {
    const agentUrl = await agent((text) => [`heard ${text}`]);
    assert.match((await parley.asATool(agentUrl)) ?? '', /heard tea/);
  });

  cell(['adk', 'called', 'ask'], '✓ by a function response', async () => {
    const base = await agent((text) => [`told ${text}`], { asks: true });
    const answer = () => ({
      data: { id: 'call', name: 'ask', response: { tea: 'green' } },
      metadata: { adk_type: 'function_response' },
    });
    assert.match(await parley.answered(base, answer), /told {"tea":"green"}/);
  });

  const asked = (url: string, topic = 'tea') =>
    stage.api.finish(linear(unique('adk'), input('in'), external('adk', url), output('out')), { in: topic });

  for (const basePath of ['', '/agents/fake']) {
    for (const [what, ending] of [
      ['its base URL', ''],
      ['its base URL with a slash', '/'],
      ['the URL of its card', `/${CARD}`],
    ] as const) {
      it(`by ${what}, served at "${basePath}/"`, async () => {
        const base = await agent((text) => [`about ${text}`], { basePath });
        const run = await asked(`${base}${ending}`);
        assert.equal(run.error?.message, undefined);
        assert.equal(textOf(run.result), 'about tea');
      });
    }
  }

  cell(['adk', 'called', 'stream'], '– all comes at once', async () => {
    assert.equal(textOf((await asked(await agent((text) => ['one ', `${text} `, 'three']))).result), 'one tea three');
  });

  it('tells its failure', async () => {
    const base = await agent(() => {
      throw new Error('the model is out');
    });
    const run = await asked(base);
    assert.equal(run.status, 'failed');
    assert.match(run.error?.message ?? '', /external agent .* failed/);
  });

  cell(['adk', 'called', 'cancel'], '– refused', async () => {
    const { answer, asked: begun, release } = silent();
    assert.equal(await parley.canceled(await agent(answer), begun), 'refused');
    release();
  });
});

describe('ADK calls Parley', () => {
  const stage = useInteropStage();

  async function workflow(...nodes: Parameters<typeof linear>[1][]): Promise<string> {
    const { name } = await stage.api.save(linear(unique('adk'), ...nodes));
    return name;
  }

  const parley = new ParleySide(stage);

  cell(['adk', 'calls', 'send'], '✓', async () => {
    const events = await new AdkCaller(`${await parley.answering()}/`).say('tea');
    assert.equal(last(textsOf(events)), 'about tea');
  });

  cell(['adk', 'calls', 'stream'], '✓', async () => {
    const { base, text, release } = await parley.telling();
    const seen: string[] = [];
    for await (const event of new AdkCaller(`${base}/`).events(text)) {
      const [said = ''] = textsOf([event]);
      seen.push(said);
      if (said.includes('one ')) release();
    }
    assert.match(seen.join('|'), /one .*two/);
  });

  noCell(['adk', 'calls', 'cancel'], '– no such call');

  const last = (texts: string[]): string | undefined => texts.filter((text) => text !== '').at(-1);

  it('a workflow, by its base URL', async () => {
    const name = await workflow(input('in'), echo('a'), output('out'));
    const events = await new AdkCaller(`${stage.api.base(name)}/`).say('tea');
    assert.deepEqual(
      events.flatMap(({ errorMessage }) => errorMessage ?? []),
      [],
    );
    assert.equal(last(textsOf(events)), 'about tea');
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
    assert.equal(last(textsOf(events)), 'about tea');
  });

  it('hears why a workflow failed', async () => {
    const name = await workflow(script('a', { fail: 'no tea left' }));
    const events = await new AdkCaller(`${stage.api.base(name)}/`).say('tea');
    assert.match(JSON.stringify(events), /no tea left/);
  });

  cell(['adk', 'calls', 'ask'], '– hears it; what it says then begins a new Task', async () => {
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
    assert.equal(last(textsOf(events)), 'about two');
    const { body } = await stage.api.call<{ runs: { contextId: string }[] }>('GET', `/runs?workflow=${name}`);
    assert.equal(body.runs.length, 2);
    assert.equal(new Set(body.runs.map(({ contextId }) => contextId)).size, 1);
  });
});
