import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { startAskingAgent } from '../support/asking-sdk-agent.js';
import type { AskingAgentOptions } from '../support/asking-turn.js';
import { textOf } from '../support/workflow.js';
import { cell } from './cell-tests.js';
import type { Framework } from './frameworks.js';
import { useInteropStage } from './interop-stage.js';
import { ParleySide } from './parley-side.js';
import { client03, client10, type SdkClient } from './sdk-clients.js';

for (const [framework, version, clientAt] of [
  ['sdk10', '1.0', client10],
  ['sdk03', '0.3', client03],
] as const satisfies readonly [Framework, string, (base: string) => Promise<SdkClient>][]) {
  describe(`The official SDK of ${version}`, () => {
    const stage = useInteropStage();
    const parley = new ParleySide(stage);

    /** It asks two questions, then answers in two pieces; to `tell` it answers at once. */
    async function agent(options: Partial<AskingAgentOptions> = {}): Promise<string> {
      const served = await startAskingAgent({ version, binding: 'JSONRPC', streaming: true, ...options });
      stage.defer(() => served.stop());
      return served.url;
    }

    cell([framework, 'called', 'send'], '✓', async () => {
      const run = await parley.told(await agent(), 'tell', { prompt: '{{in}}' });
      assert.equal(textOf(run.result), 'one two');
    });

    cell([framework, 'called', 'stream'], '✓', async () => {
      const released = Promise.withResolvers<void>();
      const base = await agent({ between: released.promise });
      assert.equal(await parley.readAsItComes(base, 'one ', released.resolve, 'tell'), 'one two');
    });

    cell([framework, 'called', 'as a tool'], '✓', async () => {
      assert.match((await parley.asATool(await agent(), 'tell')) ?? '', /one two/);
    });

    cell([framework, 'called', 'ask'], '✓', async () => {
      const answers = [{ text: 'Ann' }, { text: 'blue' }];
      assert.equal(await parley.answered(await agent(), () => answers.shift() ?? {}, 2), 'Ann likes blue');
    });

    for (const binding of ['JSONRPC', 'HTTP+JSON'] as const)
      cell([framework, 'called', 'ask'], '✓', async () => {
        const answers = [{ text: 'Ann' }, { text: 'blue' }];
        const base = await agent({ binding, updatesAlone: true });
        assert.equal(await parley.answered(base, () => answers.shift() ?? {}, 2), 'Ann likes blue');
      });

    cell([framework, 'called', 'cancel'], '✓', async () => {
      const begun = Promise.withResolvers<void>();
      assert.equal(await parley.canceled(await agent({ onWait: begun.resolve }), begun.promise), 'acknowledged');
    });

    cell([framework, 'calls', 'send'], '✓', async () => {
      const { json } = await (await clientAt(await parley.answering())).send('tea');
      assert.match(json, /about tea/);
    });

    cell([framework, 'calls', 'stream'], '✓', async () => {
      const { base, text, release } = await parley.telling();
      const seen: string[] = [];
      for await (const event of (await clientAt(base)).stream(text)) {
        seen.push(event);
        if (event.includes('one ')) release();
      }
      assert.match(seen.join(), /one .*two.*completed/i);
    });

    cell([framework, 'calls', 'ask'], '✓', async () => {
      const client = await clientAt(await parley.curious());
      const asked = await client.send('tea');
      assert.match(asked.json, /Which tea\?/);
      assert.match((await client.send('green', asked.taskId)).json, /\[green\]/);
    });

    cell([framework, 'calls', 'cancel'], '✓', async () => {
      const { base, states } = await parley.slow();
      const client = await clientAt(base);
      const { taskId } = await client.send('wait');
      assert.match(await client.cancel(taskId), /canceled/i);
      assert.deepEqual(await states(), ['TASK_STATE_CANCELED']);
    });
  });
}
