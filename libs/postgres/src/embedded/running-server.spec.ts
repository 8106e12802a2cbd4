import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readPostmasterFile } from './running-server.js';

describe('readPostmasterFile', () => {
  const cluster = mkdtempSync(join(tmpdir(), 'parley-cluster-'));
  const written = (...lines: unknown[]) => writeFileSync(join(cluster, 'postmaster.pid'), lines.join('\n'));

  afterAll(() => rmSync(cluster, { recursive: true, force: true }));

  it('finds nothing where no server has claimed the directory', () => {
    expect(readPostmasterFile(cluster)).toBeUndefined();
  });

  it.each([
    ['a socket', ['/run/x', ''], { address: { host: '/run/x', port: 5432 } }],
    ['a port', ['', '127.0.0.1'], { address: { host: '127.0.0.1', port: 5432 } }],
    ['nothing yet', ['', ''], {}],
  ])('reads the address of a server that listens on %s', (_what, lines, address) => {
    written(4711, cluster, 1_800_000_000, 5432, ...lines, '  1 2', 'ready   ');
    expect(readPostmasterFile(cluster)).toEqual({ pid: 4711, ...address });
  });
});
