import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startAskingAgent } from '../support/asking-sdk-agent.js';
import type { AskingAgentOptions } from '../support/asking-turn.js';
import { openDoor } from '../support/doors.js';
import { serveAdk } from './adk/adk-agents.js';
import { useInteropStage } from './interop-stage.js';
import { serveMastra } from './mastra/mastra-agents.js';
import { client03, client10, type SdkClient } from './sdk-clients.js';
import { serveStrands } from './strands/strands-agents.js';
import { serveVoltAgent } from './voltagent/voltagent-agents.js';

const CLIENTS = [
  ['1.0', client10],
  ['0.3', client03],
] as const satisfies readonly [string, (base: string) => Promise<SdkClient>][];

const hearing = (text: string): string[] => [`heard ${text}`];
const SERVED = [
  ['ADK', async () => serveAdk(hearing)],
  ['Strands', async () => serveStrands(hearing)],
  ['Mastra', async () => serveMastra(hearing)],
  ['VoltAgent', async () => serveVoltAgent(hearing)],
] as const satisfies readonly [string, () => Promise<{ base?: string; card?: string; stop(): unknown }>][];

for (const [clientVersion, clientAt] of CLIENTS) {
  describe(`The client of ${clientVersion} calls registered agents`, () => {
    const stage = useInteropStage();

    async function doorTo(url: string): Promise<SdkClient> {
      return clientAt((await openDoor(stage.parley.url, url)).base);
    }

    for (const [version] of CLIENTS)
      for (const binding of ['JSONRPC', 'HTTP+JSON'] as const) {
        async function agent(options: Partial<AskingAgentOptions> = {}): Promise<string> {
          const served = await startAskingAgent({ version, binding, streaming: true, ...options });
          stage.defer(() => served.stop());
          return served.url;
        }

        it(`of the SDK of ${version} over ${binding}: asks are answered, and reach the same Task`, async () => {
          const client = await doorTo(await agent());
          const { taskId, json } = await client.send('tea');
          assert.match(json, /input.required/i);
          assert.match((await client.send('Ann', taskId)).json, /input.required/i);
          assert.match((await client.send('blue', taskId)).json, /Ann likes .*blue/);
        });

        it(`of the SDK of ${version} over ${binding}: streams come as they are said`, async () => {
          const released = Promise.withResolvers<void>();
          const client = await doorTo(await agent({ between: released.promise }));
          const seen: string[] = [];
          for await (const event of client.stream('tell')) {
            seen.push(event);
            if (event.includes('one ')) released.resolve();
          }
          assert.match(seen.join(), /one .*two.*completed/i);
        });

        it(`of the SDK of ${version} over ${binding}: a cancel reaches the agent`, async () => {
          const begun = Promise.withResolvers<void>();
          const client = await doorTo(await agent({ onWait: begun.resolve }));
          const { taskId } = await client.send('wait');
          await begun.promise;
          assert.match(await client.cancel(taskId), /canceled/i);
        });
      }

    for (const [framework, serve] of SERVED)
      it(`of ${framework}: what the agent says comes through`, async () => {
        const served: { base?: string; card?: string; stop(): unknown } = await serve();
        stage.defer(served.stop);
        const { json } = await (await doorTo(served.card ?? served.base ?? '')).send('tea');
        assert.match(json, /heard tea/);
        assert.match(json, /completed/i);
      });
  });
}
