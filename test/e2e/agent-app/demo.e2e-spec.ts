import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { freshDataDir, postmasters } from '../../support/parley.js';
import { before } from '../../support/until.js';

const DEMO = resolve(import.meta.dirname, '../../../scripts/demo.mjs');

describe('npm run demo', () => {
  it('-- --once kills Parley during a run over two agents, prints the result of the run, and leaves nothing running', async () => {
    const data = freshDataDir();
    try {
      const { code, output } = await endOf(demo(data.path));
      expect(output).toContain('Briefing: Why agents need a common protocol');
      expect(output).toContain('Give one number for every claim');
      expect(output).toMatch(/Console +http:\/\/127\.0\.0\.1:\d+/);
      expect(output.match(/curl /g)).toHaveLength(3);
      expect(output).toMatch(/critique +a2a\.sending.*kill -9 \d+ .*Parley is back .*critique +node\.completed/s);
      expect(output).toContain('no step was lost, and none ran twice');
      expect(output).toContain('researcher 1, critic 1');
      expect(output).toMatch(/research +node\.completed/);
      expect(output).not.toMatch(/node\.progress *$/m);
      expect(code).toBe(0);
      expect(postmasters(data.path)).toEqual([]);
    } finally {
      await data.remove();
    }
  });
});

function demo(dataDir: string): ChildProcess {
  const env = { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '/tmp', PORT: '0', DATA_DIR: dataDir };
  return spawn(process.execPath, [DEMO, '--once'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
}

async function endOf(child: ChildProcess): Promise<{ code: number | null; output: string }> {
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => (output += chunk));
  await before(once(child, 'close'), { what: 'the demo to end' }).catch((error: unknown) => {
    child.kill('SIGTERM');
    throw new Error(`The demo did not end. It said:\n${output}`, { cause: error });
  });
  return { code: child.exitCode, output };
}
