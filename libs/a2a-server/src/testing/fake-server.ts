import type { AddressInfo } from 'node:net';
import fastify, { type FastifyInstance } from 'fastify';
import { type A2aRoutes, registerA2aRoutes } from '../a2a-routes.js';
import { type FakeService, fakeService } from './fake-service.js';

export interface FakeServer extends FakeService {
  app: FastifyInstance;
  routes: A2aRoutes;
}

/** Creates a server with the A2A routes over a fake service; its public URL is `http://parley.test`. */
export function fakeServer(service: FakeService = fakeService()): FakeServer {
  const app = fastify({ bodyLimit: 64 * 1024, forceCloseConnections: true });
  const address = { publicBaseUrl: () => 'http://parley.test' };
  const routes = registerA2aRoutes(app, { ...service, address });
  return { ...service, app, routes };
}

/** Calls a route over a socket and waits for the end of its answer, since `inject` has no streams. */
export async function fetchAll(
  { app }: FakeServer,
  url: string,
  init: { method: string; headers?: Record<string, string>; body?: object },
): Promise<{ type: string; text: string }> {
  if (!app.server.listening) await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as AddressInfo;
  const { body, headers } = init;
  const json = body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json', ...headers } };
  const response = await fetch(`http://127.0.0.1:${port}${url}`, { ...init, body: undefined, ...json });
  return { type: response.headers.get('content-type') ?? '', text: await response.text() };
}

/** Parses the frames of a finished SSE answer. */
export function sseFrames(payload: string): { id?: string; event?: string; data: unknown }[] {
  return payload
    .split('\n\n')
    .filter((it) => it.includes('data: '))
    .map((frame) => {
      const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(frame)?.[1];
      const id = field('id');
      const event = field('event');
      return { ...(id && { id }), ...(event && { event }), data: JSON.parse(field('data') ?? 'null') as unknown };
    });
}
