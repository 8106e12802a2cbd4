import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { cell, noCell } from './cell-tests.js';
import { type Answer, halting, silent } from './fake-model.js';
import { useInteropStage } from './interop-stage.js';
import { ParleySide } from './parley-side.js';
import { serveVoltAgent } from './voltagent/voltagent-agents.js';

describe('VoltAgent', () => {
  const stage = useInteropStage();
  const parley = new ParleySide(stage);

  // Where a Task of its server is canceled, promises of it are left to nobody: that says nothing of a test.
  const whoFails = process.listeners('unhandledRejection');
  before(() => void process.removeAllListeners('unhandledRejection'));
  after(() => {
    for (const listener of whoFails) process.on('unhandledRejection', listener);
  });

  async function agent(answer: Answer): Promise<string> {
    const { card, stop } = await serveVoltAgent(answer);
    stage.defer(stop);
    return card;
  }

  cell(['voltagent', 'called', 'send'], '✓', async () => {
    assert.equal(await parley.answerOf(await agent((text) => [`heard ${text}`])), 'heard about tea');
  });

  cell(['voltagent', 'called', 'stream'], '✓', async () => {
    const { answer, release } = halting();
    assert.equal(await parley.readAsItComes(await agent(answer), 'one ', release), 'one two three');
  });

  cell(['voltagent', 'called', 'as a tool'], '✓', async () => {
    const agentUrl = await agent((text) => [`heard ${text}`]);
    assert.match((await parley.asATool(agentUrl)) ?? '', /heard tea/);
  });

  noCell(['voltagent', 'called', 'ask'], '– never asks');

  cell(['voltagent', 'called', 'cancel'], '✓', async () => {
    const { answer, asked, release } = silent();
    assert.equal(await parley.canceled(await agent(answer), asked), 'acknowledged');
    release();
  });

  it('its failure fails the run', async () => {
    const run = await parley.told(
      await agent(() => {
        throw new Error('the model is out');
      }),
    );
    assert.equal(run.status, 'failed');
  });

  for (const operation of ['send', 'stream', 'ask', 'cancel'] as const)
    noCell(['voltagent', 'calls', operation], '– no client');
});
