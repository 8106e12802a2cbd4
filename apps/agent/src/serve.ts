import { resolve } from 'node:path';
import type { DefinedAgent, ServeOptions, Serving } from '#libs/agent-sdk';
import type { Environment } from '#libs/service';
import { definedAgent } from './served-agent.js';
import { startAgent } from './start-agent.js';

/** Serves an agent of `defineAgent` in this process. @throws the errors of startAgent */
export function serveDefined(agent: DefinedAgent, options: ServeOptions, environment: Environment): Promise<Serving> {
  const { name, description = `The agent ${name}` } = agent;
  const { port = 4001, host = '127.0.0.1', dataDir = `.data/agents/${name}`, databaseUrl } = options;
  const env = databaseUrl === undefined ? environment : { ...environment, DATABASE_URL: databaseUrl };
  const place = { name, description, port, host, dataDir: resolve(dataDir) };
  return startAgent(place, env, definedAgent(agent));
}
