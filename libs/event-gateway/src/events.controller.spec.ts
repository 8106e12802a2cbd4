import { LoopShares, Metrics, type Shutdown, WorkTurns } from '#libs/service';
import { ANONYMOUS_SCOPE, type CommitFeed } from '#libs/tasks';
import type { FastifyReply } from 'fastify';
import { EventGateway } from './event-gateway.js';
import { EventsController } from './events.controller.js';
import { encodeCursor } from './gateway-cursor.js';

const AWAY = new Error('The database is away');
const CURSOR = encodeCursor({ position: new Map(), partly: new Map(), at: new Date() });

describe('GET /api/events', () => {
  it.each([undefined, CURSOR])(
    'fails as any request where the log cannot be read, and begins no stream: %s',
    async (since) => {
      const position = () => Promise.reject(AWAY);
      await expect(opened({ readPosition: position }, since)).rejects.toBe(AWAY);
    },
  );

  it('is refused by a process that has begun to end meanwhile: nobody would end the stream', async () => {
    const ends = new AbortController();
    const position = async () => {
      ends.abort();
      return { position: new Map(), at: new Date() };
    };
    await expect(opened({ readPosition: position }, undefined, ends.signal)).rejects.toMatchObject({ status: 503 });
  });
});

function opened(
  feed: Pick<CommitFeed, 'readPosition'>,
  since?: string,
  started = new AbortController().signal,
): Promise<void> {
  const gateway = new EventGateway(
    feed as CommitFeed,
    { names: [], projections: [] },
    new WorkTurns(new LoopShares(new Metrics())),
  );
  const controller = new EventsController(gateway, { started } as Shutdown);
  const hijack = (): never => {
    throw new Error('A stream has begun');
  };
  return controller.streamEvents({}, since, ANONYMOUS_SCOPE, { hijack } as unknown as FastifyReply);
}
