import type { FastifyReply, FastifyRequest } from 'fastify';
import type { WrittenCard } from './served-cards.js';

/**
 * `max-age=0`: a workflow may change at any time and its change is seen at once, while asking again costs a 304.
 * A card that depends on who asks is kept by nobody but the caller.
 */
const FOR_ALL = 'public, max-age=0, must-revalidate';
const FOR_ONE = 'private, max-age=0, must-revalidate';

/** Who may keep a card, and by which headers of its request it may be told apart. */
export interface CardCaching {
  shared: boolean;
  varyBy: readonly string[];
}

/** Sends a card, or 304 to whoever has it already (section 8.6.1). */
export function sendCard(
  request: FastifyRequest,
  reply: FastifyReply,
  { json, etag }: WrittenCard,
  { shared, varyBy }: CardCaching,
): void {
  reply.header('etag', etag).header('cache-control', shared ? FOR_ALL : FOR_ONE);
  vary(reply, varyBy);
  if (isKnown(etag, request.headers['if-none-match'])) reply.code(304).send();
  else reply.header('content-type', 'application/json').send(json);
}

/** Adds to what others, such as CORS, have said. */
function vary(reply: FastifyReply, names: readonly string[]): void {
  if (names.length === 0) return;
  const said = reply.getHeader('vary');
  reply.header('vary', [...(said === undefined ? [] : [said].flat()), ...names].join(', '));
}

/** Whether an If-None-Match header names the tag (RFC 9110, section 13.1.2: compared weakly). */
function isKnown(etag: string, header: string | undefined): boolean {
  if (header === undefined) return false;
  return header.split(',').some((it) => it.trim() === '*' || opaque(it.trim()) === opaque(etag));
}

function opaque(tag: string): string {
  return tag.replace(/^W\//, '');
}
