import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { A2AAgent, A2AStreamUpdateEvent } from '@strands-agents/sdk/a2a';
import { cell, noCell } from './cell-tests.js';
import { type Answer, halting, silent } from './fake-model.js';
import { useInteropStage } from './interop-stage.js';
import { ParleySide } from './parley-side.js';
import { serveStrands } from './strands/strands-agents.js';

describe('Strands', () => {
  const stage = useInteropStage();
  const parley = new ParleySide(stage);

  async function agent(answer: Answer): Promise<string> {
    const { base, stop } = await serveStrands(answer);
    stage.defer(stop);
    return base;
  }

  cell(['strands', 'called', 'send'], '✓', async () => {
    assert.equal(await parley.answerOf(await agent((text) => [`heard ${text}`])), 'heard about tea');
  });

  cell(['strands', 'called', 'stream'], '✓', async () => {
    const { answer, release } = halting();
    assert.equal(await parley.readAsItComes(await agent(answer), 'one ', release), 'one two three');
  });

  cell(['strands', 'called', 'cancel'], '– refused', async () => {
    const { answer, asked, release } = silent();
    assert.equal(await parley.canceled(await agent(answer), asked), 'refused');
    release();
  });

  cell(['strands', 'called', 'as a tool'], '✓', async () => {
    const agentUrl = await agent((text) => [`heard ${text}`]);
    assert.match((await parley.asATool(agentUrl)) ?? '', /heard tea/);
  });

  noCell(['strands', 'called', 'ask'], '– never asks');
  noCell(['strands', 'calls', 'cancel'], '– no such call');

  it('its failure fails the run', async () => {
    const run = await parley.told(
      await agent(() => {
        throw new Error('the model is out');
      }),
    );
    assert.equal(run.status, 'failed');
  });

  const caller = async (base: string | Promise<string>): Promise<A2AAgent> => new A2AAgent({ url: `${await base}/` });

  cell(['strands', 'calls', 'send'], '✓', async () => {
    const result = await (await caller(parley.answering())).invoke('tea');
    assert.equal(result.toString(), 'about tea');
  });

  cell(['strands', 'calls', 'stream'], '✓', async () => {
    const { base, text, release } = await parley.telling();
    const seen: string[] = [];
    for await (const event of (await caller(base)).stream(text)) {
      seen.push(JSON.stringify(event));
      if (event instanceof A2AStreamUpdateEvent && JSON.stringify(event).includes('one ')) release();
    }
    assert.match(seen.at(-1) ?? '', /one two/);
  });

  cell(['strands', 'calls', 'ask'], '– hears it, cannot answer', async () => {
    const stream = (await caller(parley.curious())).stream('tea');
    const seen: string[] = [];
    let next = await stream.next();
    for (; !next.done; next = await stream.next()) seen.push(JSON.stringify(next.value));
    assert.match(seen.join('\n'), /Which tea\?/);
    assert.equal(next.value.toString(), '');
  });
});
