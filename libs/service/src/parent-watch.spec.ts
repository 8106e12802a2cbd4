import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { endWithParent, PARENT_PIPE } from './parent-watch.js';

const WATCHING = `
  const { endWithParent } = await import(process.argv[1]);
  endWithParent(process.env, () => { console.log('gone ' + (process.env.${PARENT_PIPE} ?? 'unset')); process.exit(0); });
  console.log('watching');
  setInterval(() => undefined, 60_000);
`;

describe('endWithParent', () => {
  it('reports the end of the process that holds the other end of the pipe, and hides the variable', async () => {
    const child: ChildProcess = spawn(
      process.execPath,
      ['--input-type=module', '-e', WATCHING, new URL('parent-watch.ts', import.meta.url).href],
      { env: { ...process.env, [PARENT_PIPE]: '3' }, stdio: ['ignore', 'pipe', 'inherit', 'pipe'] },
    );
    let said = '';
    child.stdout!.on('data', (chunk: Buffer) => {
      said += chunk;
      if (said === 'watching\n') child.stdio[3]!.destroy();
    });
    await once(child, 'close');
    expect(said).toBe('watching\ngone unset\n');
  });

  it.each([{}, { [PARENT_PIPE]: 'x' }, { [PARENT_PIPE]: '-1' }, { [PARENT_PIPE]: '98765' }])(
    'watches nothing where %j names no pipe',
    (env) => {
      expect(() => endWithParent(env, () => undefined)).not.toThrow();
    },
  );
});
