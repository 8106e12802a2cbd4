import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { A2AServer } from '@voltagent/a2a-server';
import { Agent, VoltAgent } from '@voltagent/core';
import { honoServer } from '@voltagent/server-hono';
import { until } from '../../support/until.js';
import { aiModel } from '../ai-model.js';
import type { Answer } from '../fake-model.js';

type Options = ConstructorParameters<typeof Agent>[0];

/** Serves an agent as VoltAgent does. @returns its card's URL and where it is spoken to */
export async function serveVoltAgent(answer: Answer): Promise<{ card: string; rpc: string; stop(): Promise<void> }> {
  const port = await freePort();
  const model = aiModel(answer) as Options['model'];
  const agent = new Agent({ id: 'fake', name: 'fake', instructions: 'Answer.', model });
  const a2a = new A2AServer({ id: 'fake', name: 'fake', version: '1' });
  const app = new VoltAgent({
    agents: { fake: agent },
    a2aServers: { fake: a2a },
    server: honoServer({ port, hostname: '127.0.0.1' }),
  });
  const url = `http://127.0.0.1:${port}`;
  const card = `${url}/.well-known/fake/agent-card.json`;
  const isUp = async (): Promise<boolean> => (await fetch(card).catch(() => undefined))?.ok === true;
  await until(isUp, { what: 'VoltAgent to listen' });
  return { card, rpc: `${url}/a2a/fake`, stop: () => app.shutdown() };
}

/** It takes no port of its own choice. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
