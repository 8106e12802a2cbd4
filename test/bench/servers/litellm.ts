import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { BenchServer } from './bench-server.ts';

/** Packages to install: the gateway, and the SDK with which it calls agents. */
const PACKAGES = ['litellm[proxy]==1.108.7', 'a2a-sdk[http-server]==1.3.0'];
const INSTALL_WITHIN_MS = 10 * 60_000;
const READY_WITHIN_MS = 120_000;
/** API key of the gateway, which requires one, and of its callers. */
const KEY = 'sk-bench-8f2c51d07be94a63';
export const LITELLM_HEADERS = { authorization: `Bearer ${KEY}` };
export const LITELLM_PATH = '/a2a/echo';

/**
 * Installs LiteLLM's gateway in a temporary folder, and starts it in front of an agent.
 * @returns the gateway, or a sentence with the reason why it is not available
 */
export async function startLiteLlm(agentUrl: string): Promise<BenchServer | string> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-litellm-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  const failure = install(folder);
  if (failure !== undefined) {
    remove();
    return `LiteLLM was not measured: ${failure}`;
  }
  const port = await freePort();
  writeFileSync(join(folder, 'config.json'), JSON.stringify(configuration(agentUrl)));
  const args = ['--config', join(folder, 'config.json'), '--host', '127.0.0.1', '--port', String(port)];
  const child = spawn(join(folder, 'venv/bin/litellm'), [...args, '--telemetry', 'False'], {
    env: { ...process.env, LITELLM_MASTER_KEY: KEY, LITELLM_LOCAL_MODEL_COST_MAP: 'True', LITELLM_LOG: 'ERROR' },
    stdio: 'ignore',
  });
  const running = (): boolean => child.exitCode === null && child.signalCode === null;
  const stop = async (): Promise<void> => {
    if (running()) {
      const exit = once(child, 'exit');
      child.kill('SIGKILL');
      await exit;
    }
    remove();
  };
  const url = `http://127.0.0.1:${port}`;
  if (await isReady(url, running)) return { url, pid: child.pid ?? 0, running, stop };
  await stop();
  return 'LiteLLM was not measured: it did not start.';
}

/** Returns the configuration as JSON, which is valid YAML. */
function configuration(agentUrl: string): object {
  const card = { name: 'echo', description: 'Echoes', url: agentUrl, version: '1', protocolVersion: '1.0' };
  const modes = { defaultInputModes: ['text'], defaultOutputModes: ['text'] };
  const agent_card_params = { ...card, ...modes, capabilities: { streaming: true }, skills: [] };
  return { agents: [{ agent_name: 'echo', agent_card_params }] };
}

/** Installs the packages. @returns the reason of a failure */
function install(folder: string): string | undefined {
  const venv = join(folder, 'venv');
  const made = spawnSync('python3', ['-m', 'venv', venv]);
  if (made.status !== 0) return 'there is no Python with venv here.';
  const args = ['install', '--quiet', '--disable-pip-version-check', ...PACKAGES];
  const installed = spawnSync(join(venv, 'bin/pip'), args, { timeout: INSTALL_WITHIN_MS, encoding: 'utf8' });
  if (installed.status === 0) return undefined;
  return `its packages cannot be installed here: ${(installed.stderr ?? '').trim().split('\n').at(-1)}`;
}

async function isReady(url: string, running: () => boolean): Promise<boolean> {
  const until = performance.now() + READY_WITHIN_MS;
  while (running() && performance.now() < until) {
    const answer = await fetch(`${url}/health/liveliness`).catch(() => undefined);
    if (answer?.ok) return true;
    await delay(250);
  }
  return false;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return address !== null && typeof address === 'object' ? address.port : 0;
}
