import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { PeerProgram } from './peers/peer-program.js';

const SUPPORT = join(import.meta.dirname, '../support');
const STAYS = 'setInterval(() => 0, 1_000)';

describe('The programs of peers', () => {
  it('a call fails, and names its time limit, if the client does not end', async () => {
    const client = new PeerProgram([process.execPath, '-e', STAYS], tmpdir());
    await assert.rejects(client.call(['--', 'wait'], { within: 300 }), /-- wait did not end within 300 ms/);
  });

  it('a call names the exit code and the complaints of its client', async () => {
    const client = new PeerProgram([process.execPath, '-e', 'console.error("no tea"); process.exit(3)'], tmpdir());
    await assert.rejects(client.call([]), /ended with 3\n\nno tea/);
  });

  it('an agent ends with the process that has started it', async () => {
    const agent = `spawn(process.execPath, ['-e', '${STAYS}'], { detached: true, stdio: 'inherit' })`;
    const script = `const { spawn } = await import('node:child_process');
      const { endWithProcess } = await import('${join(SUPPORT, 'end-child.ts')}');
      endWithProcess(${agent}, true).once('spawn', () => { console.log('started'); process.exit(); });`;
    const args = ['--import', join(SUPPORT, 'typescript-hooks.mjs'), '--input-type=module', '-e', script];
    const starter = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    // The output ends when the last process that can write to it ends.
    assert.equal(await text(starter.stdout), 'started\n');
  });
});
