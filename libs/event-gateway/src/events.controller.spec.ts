import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { EventGateway, GatewayFrame } from './event-gateway.js';
import { EventsController } from './events.controller.js';
import type { GatewayQuery } from './gateway-query.js';

it('a stream that begins during a shutdown ends with it', async () => {
  const begun: boolean[] = [];
  const gateway = {
    read: () => ({}),
    follow: async function* (_query: GatewayQuery, signal: AbortSignal): AsyncGenerator<GatewayFrame> {
      begun.push(signal.aborted);
      yield { cursor: 'c', text: '{}' };
    },
  };
  const raw = new ServerResponse(new IncomingMessage(new Socket()));
  const reply = { raw, hijack: () => undefined, getHeaders: () => ({}) };
  const controller = new EventsController(
    gateway as unknown as EventGateway,
    { started: AbortSignal.abort() } as never,
  );
  await controller.streamEvents({}, undefined, { tenant: '', owner: '' }, reply as never);
  raw.destroy();
  expect(begun).toEqual([true]);
});
