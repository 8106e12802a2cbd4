import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import type { JsonObject } from '../../libs/protocol/src/index.js';
import { echo, input, linear, output, unique } from '../support/workflow.js';
import { useInteropStage } from './interop-stage.js';

/** What `--protocol-era` says, and the revision that Parley and the inspector agree on then. */
const ERAS = [
  ['legacy', '2025-11-25'],
  ['modern', '2026-07-28'],
  ['auto', '2026-07-28'],
] as const;
const PROGRAM = join(
  import.meta.dirname,
  'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js',
);
const execute = promisify(execFile);

interface Tool {
  name: string;
  description?: string;
  inputSchema: JsonObject;
}

describe('The command line of the MCP inspector calls Parley', () => {
  const stage = useInteropStage();
  const home = mkdtempSync(join(tmpdir(), 'parley-inspector-'));
  const name = unique('inspected');

  before(async () => {
    stage.defer(() => rmSync(home, { recursive: true, force: true }));
    const nodes = [input('topic'), echo('writer', { prompt: '{{topic}}' }), output('out')];
    await stage.api.save({ ...linear(name, ...nodes), description: 'Is inspected' });
  });

  /** What one command prints; what it keeps, it keeps in a folder of this suite, and it opens no browser. */
  async function inspect(era: string, method: string, ...more: string[]): Promise<JsonObject> {
    const options = ['--transport', 'http', '--protocol-era', era, '--stored-auth-only', '--format', 'json'];
    const args = [PROGRAM, '--cli', `${stage.parley.url}/mcp`, ...options, '--method', method, ...more];
    const env = { ...process.env, HOME: home, USERPROFILE: home, MCP_STORAGE_DIR: home };
    const { stdout } = await execute(process.execPath, args, { env, cwd: home });
    return (JSON.parse(stdout) as { result: JsonObject }).result;
  }

  for (const [era, revision] of ERAS) {
    it(`in the era "${era}" it agrees on ${revision}, lists a workflow and calls it`, async () => {
      assert.equal((await inspect(era, 'initialize'))['protocolVersion'], revision);
      const tools = (await inspect(era, 'tools/list'))['tools'] as unknown as Tool[];
      const tool = tools.find((listed) => listed.name === name);
      assert.equal(tool?.description, 'Is inspected');
      assert.deepEqual(tool?.inputSchema['required'], ['topic']);
      const called = await inspect(era, 'tools/call', '--tool-name', name, '--tool-arg', 'topic=tea');
      assert.deepEqual(called['content'], [{ type: 'text', text: 'about tea' }]);
      assert.deepEqual(called['structuredContent'], { out: 'about tea' });
    });
  }
});
