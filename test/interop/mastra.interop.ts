import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { A2AAgent } from '@mastra/core/a2a';
import { echo, external, input, linear, output, ruled, script, textOf, unique } from '../support/workflow.js';
import { useInteropStage } from './interop-stage.js';
import { serveMastra } from './mastra/mastra-agents.js';

describe('Parley calls an agent of Mastra', () => {
  const stage = useInteropStage();

  async function served(answer: (text: string) => string[]): Promise<{ card: string; rpc: string }> {
    const agent = await serveMastra(answer);
    stage.defer(agent.stop);
    return agent;
  }

  const asked = (url: string) =>
    stage.api.finish(linear(unique('mastra'), input('in'), external('x', url), output('out')), { in: 'tea' });

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
          [['tea']],
        );
        // Mastra counts the Message that a Task ended with beside its Artifacts.
        assert.equal(text, 'tea\ntea');
      });
    }

    it(`a node, streaming, in ${version}`, async () => {
      const chunks = ['one ', 'two'].map((text, index) => ({
        artifact: { artifactId: 'a', append: index > 0, parts: [{ text }] },
      }));
      const base = await workflow(script('a', ...chunks, { complete: true }));
      const answer = await agentAt(`${base}/nodes/a/`, version).stream('tea');
      assert.equal(await answer.text, 'one two');
    });

    it(`hears a question and answers it, in ${version}`, async () => {
      const base = await workflow(
        ruled(
          'a',
          [{ when: { turn: 1 }, steps: [{ ask: 'Which tea?' }] }],
          [{ artifact: { parts: [{ text: '[{{text}}]' }] } }, { complete: true }],
        ),
      );
      const agent = agentAt(`${base}/nodes/a/`, version);
      const options = { runId: unique('run') } as Parameters<A2AAgent['resumeGenerate']>[1];
      const asked = await agent.generate('tea', options);
      assert.equal(asked.task?.status.state, 'input-required');
      const answered = await agent.resumeGenerate('green', options);
      assert.equal(answered.text, '[green]');
    });
  }
});
