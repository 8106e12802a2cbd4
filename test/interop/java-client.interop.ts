import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { startAskingAgent } from '../support/asking-sdk-agent.js';
import { openDoor } from '../support/doors.js';
import { freePort, freshDataDir, type Parley, startParley } from '../support/parley.js';
import { compileJavaClient, type JavaClient, whyNotHere } from './languages.js';

/** The client of 1.0.0.Alpha3 calls the gRPC service of 0.3 with messages of 1.0, so only JSON-RPC is left. */
const CLIENTS = [
  ['v0-3', ['GRPC', 'JSONRPC']],
  ['v1-0', ['JSONRPC']],
] as const;

for (const [version, bindings] of CLIENTS)
  describe(`The Java SDK (${version}) calls a registered agent`, { skip: whyNotHere('java') ?? false }, () => {
    const ends: (() => unknown)[] = [];
    let client: JavaClient | string;
    let parley: Parley;

    before(async () => {
      client = compileJavaClient(version);
      if (typeof client === 'string') return;
      ends.push(client.remove);
      const port = await freePort();
      const data = freshDataDir();
      const env = { GRPC_PORT: String(port), GRPC_PUBLIC_URL: `*.a2a.localhost:${port}` };
      parley = await startParley({ dataDir: data.path, env });
      ends.push(data.remove, () => parley.stop());
    });
    after(async () => {
      for (const end of ends.reverse()) await end();
    });

    for (const binding of bindings)
      for (const operation of ['send', 'stream'] as const)
        it(`over ${binding}: ${operation} shows what the agent says, and an error has its type`, async (context) => {
          if (typeof client === 'string') return context.skip(client);
          const agent = await startAskingAgent({ version: '1.0', binding: 'JSONRPC', streaming: true });
          ends.push(() => agent.stop());
          const { base } = await openDoor(parley.url, agent.url);
          const printed = await callByJava(client, [`${base}/`, binding, operation, 'tell']);
          const lines = printed.trim().split('\n');
          assert.match(lines.at(-1) ?? '', /TaskNotFoundError/);
          const task = lines.at(-2) ?? '';
          assert.match(task, /completed/i);
          assert.match(task, /one .*two/);
          if (operation === 'stream') assert.ok(lines.length > 3, lines.join('\n'));
        });
  });

/** Runs the client. @returns what it prints. @throws Error with its complaints if it fails */
async function callByJava({ classPath }: JavaClient, args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('java', ['-cp', classPath, 'Caller', ...args], { timeout: 60_000 });
  return stdout;
}
