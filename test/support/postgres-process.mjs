import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';

/**
 * Starts a throw-away PostgreSQL beside this process and gives its URL. The server runs under a small supervisor that
 * watches a pipe from here: when this process ends, even by `kill -9`, the supervisor stops the server and removes its files.
 */
export async function startTestPostgres() {
  const supervisor = spawn(process.execPath, [resolve(import.meta.dirname, 'postgres-supervisor.mjs')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const url = await Promise.race([firstLine(supervisor.stdout), failure(supervisor)]);
  supervisor.stdout.destroy();
  supervisor.stdin.unref();
  supervisor.unref();
  return url;
}

async function firstLine(stream) {
  let text = '';
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
    text += chunk;
    if (text.includes('\n')) return text.slice(0, text.indexOf('\n'));
  }
  throw new Error('PostgreSQL for the tests gave no URL');
}

async function failure(child) {
  const [code] = await once(child, 'exit');
  throw new Error(`PostgreSQL for the tests did not start (exit ${code})`);
}
