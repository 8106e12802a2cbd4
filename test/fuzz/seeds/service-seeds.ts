import type { Seed } from '../fuzz-case.js';

const get = (path: string): Seed => ({
  endpoint: `GET ${path.replaceAll(/\{\{\w+\}\}/g, '{id}').replace(/\?.*/, '')}`,
  transport: 'http',
  method: 'GET',
  path,
});

const socket = (path: string): Seed => ({
  endpoint: 'WebSocket /events',
  transport: 'websocket',
  method: 'GET',
  path,
});

/** Seeds of cards, the directory, health checks, documents, and the event gateway's WebSocket. */
export const SERVICE_SEEDS: readonly Seed[] = [
  '/',
  '/health/live',
  '/health/ready',
  '/health/startup',
  '/metrics',
  '/docs',
  '/docs-json',
  '/docs-yaml',
  '/.well-known/agent-card.json',
  '/.well-known/agent.json',
  '/.well-known/jwks.json',
  '/a2a/agent-card',
  '/a2a/agents?pageSize=2&pageToken=',
  '/a2a/.well-known/agent-card.json',
  '/a2a/workflows/{{workflow}}/.well-known/agent-card.json',
  '/a2a/workflows/{{workflow}}/nodes/echo/.well-known/agent-card.json',
  '/a2a/nodes/fails/agent-card',
  '/nothing/here',
]
  .map(get)
  .concat(
    socket('/events?streams=task,run,a2a,tool'),
    socket('/events?taskId={{task}}&contextId={{context}}'),
    socket('/events?runId={{run}}&conversationId={{conversation}}&since='),
    socket('/elsewhere'),
  );
