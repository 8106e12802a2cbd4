import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { A2AAgent } from '@mastra/core/a2a';
import { until } from '../support/until.js';
import { echo, external, input, linear, output, textOf, unique } from '../support/workflow.js';
import { cell } from './cell-tests.js';
import { type Answer, halting, silent } from './fake-model.js';
import { useInteropStage } from './interop-stage.js';
import { serveMastra } from './mastra/mastra-agents.js';
import { ParleySide } from './parley-side.js';

describe('Parley calls an agent of Mastra', () => {
  const stage = useInteropStage();

  const parley = new ParleySide(stage);

  async function served(
    answer: Answer,
    options?: Parameters<typeof serveMastra>[1],
  ): Promise<{ card: string; rpc: string }> {
    const agent = await serveMastra(answer, options);
    stage.defer(agent.stop);
    return agent;
  }

  const asked = (url: string) =>
    stage.api.finish(linear(unique('mastra'), input('in'), external('x', url), output('out')), { in: 'tea' });

  cell(['mastra', 'called', 'send'], '✓', async () => {
    assert.equal(await parley.answerOf((await served((text) => [`heard ${text}`])).card), 'heard about tea');
  });

  cell(['mastra', 'called', 'stream'], '✓', async () => {
    const { answer, release } = halting();
    assert.equal(await parley.readAsItComes((await served(answer)).card, 'one ', release), 'one two three');
  });

  cell(['mastra', 'called', 'as a tool'], '✓', async () => {
    const agentUrl = (await served((text) => [`heard ${text}`])).card;
    assert.match((await parley.asATool(agentUrl)) ?? '', /heard tea/);
  });

  cell(['mastra', 'called', 'ask'], '✓', async () => {
    const { card } = await served(() => ['it was told'], { asks: true });
    assert.equal(await parley.answered(card, () => ({ data: { tea: 'green' } })), 'it was told');
  });

  cell(['mastra', 'called', 'cancel'], '✓', async () => {
    const { answer, asked: begun, release } = silent();
    assert.equal(await parley.canceled((await served(answer)).card, begun), 'acknowledged');
    release();
  });

  it('by the URL of its card', async () => {
    const run = await asked((await served((text) => [`about ${text}`])).card);
    assert.equal(run.error?.message, undefined);
    assert.equal(textOf(run.result), 'about tea');
  });

  it('has to be named by its card: below its endpoint there is none, and without one 1.0 is spoken', async () => {
    const run = await asked((await served((text) => [`about ${text}`])).rpc);
    assert.match(run.error?.message ?? '', /HTTP 400/);
  });

  it('takes all that its model streams, once', async () => {
    const run = await asked((await served((text) => ['one ', `${text} `, 'three'])).card);
    assert.equal(textOf(run.result), 'one tea three');
  });

  it('tells its failure', async () => {
    const agent = await served(() => {
      throw new Error('the model is out');
    });
    assert.equal((await asked(agent.card)).status, 'failed');
  });
});

describe('Mastra calls Parley', () => {
  const stage = useInteropStage();
  const parley = new ParleySide(stage);
  const agentAt = (url: string, protocolVersion: '0.3' | '1.0' = '0.3') =>
    new A2AAgent({ url, protocolVersion, retries: 0 });

  async function workflow(...nodes: Parameters<typeof linear>[1][]): Promise<string> {
    const { name } = await stage.api.save(linear(unique('mastra'), ...nodes));
    return stage.api.base(name);
  }

  for (const version of ['0.3', '1.0'] as const) {
    for (const [what, ending] of [
      ['its base URL', ''],
      ['its base URL with a slash', '/'],
      ['the URL of its card', '/.well-known/agent-card.json'],
    ] as const) {
      it(`a workflow, by ${what}, in ${version}`, async () => {
        const base = await workflow(input('in'), echo('a'), output('out'));
        const { text, task } = await agentAt(`${base}${ending}`, version).generate('tea');
        assert.deepEqual(
          task?.artifacts?.map(({ parts }) => parts.map((part) => ('text' in part ? part.text : undefined))),
          [['about tea']],
        );
        // Mastra counts the Message that a Task ended with beside its Artifacts.
        assert.equal(text, 'about tea\nabout tea');
      });
    }

    cell(['mastra', 'calls', 'send'], '✓', async () => {
      const { text } = await agentAt(`${await parley.answering()}/`, version).generate('tea');
      assert.match(text, /about tea/);
    });

    cell(['mastra', 'calls', 'stream'], '✓', async () => {
      const { base, text, release } = await parley.telling();
      const answer = await agentAt(`${base}/`, version).stream(text);
      let said = '';
      for await (const chunk of answer.fullStream) {
        if (chunk.type === 'text-delta') said += chunk.payload.text;
        if (said.includes('one ')) release();
      }
      assert.equal(said, 'one two');
    });

    cell(['mastra', 'calls', 'ask'], '✓', async () => {
      const agent = agentAt(`${await parley.curious()}/`, version);
      const options = { runId: unique('run') } as Parameters<A2AAgent['resumeGenerate']>[1];
      const asked = await agent.generate('tea', options);
      assert.equal(asked.task?.status.state, 'input-required');
      const answered = await agent.resumeGenerate('green', options);
      assert.equal(answered.text, '[green]');
    });
  }

  cell(['mastra', 'calls', 'cancel'], '– leaves the Task at work', async () => {
    const { base, states } = await parley.slow();
    const given = new AbortController();
    const options = { abortSignal: given.signal } as Parameters<A2AAgent['generate']>[1];
    const call = agentAt(`${base}/`).generate('wait', options);
    await until(async () => (await states()).includes('TASK_STATE_WORKING'), { what: 'the Task to be at work' });
    given.abort();
    await assert.rejects(call);
    assert.deepEqual(await states(), ['TASK_STATE_WORKING']);
  });
});
