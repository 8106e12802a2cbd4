import type { FastifyReply, FastifyRequest } from 'fastify';
import type { WrittenCard } from './served-cards.js';

/** Caching rules of a card. */
export interface CardCaching {
  /** True if shared caches may keep the card; false for a card that depends on the caller. */
  shared: boolean;
  maxAgeMs: number;
  varyBy: readonly string[];
}

/** Header that every card depends on: readers of 1.0 get no members of 0.3. */
const VERSION = 'A2A-Version';

/** Sends a card, or 304 to a caller that has it already (section 8.6.1). */
export function sendCard(
  request: FastifyRequest,
  reply: FastifyReply,
  { json, etag, changedAt }: WrittenCard,
  { shared, maxAgeMs, varyBy }: CardCaching,
): void {
  const lifetime = `max-age=${Math.floor(maxAgeMs / 1000)}, must-revalidate`;
  reply.header('etag', etag).header('cache-control', `${shared ? 'public' : 'private'}, ${lifetime}`);
  addVary(reply, [VERSION, ...varyBy]);
  const modified = lastModified(changedAt);
  if (modified) reply.header('last-modified', modified.toUTCString());
  if (isKnown(request, etag, modified)) reply.code(304).send();
  else reply.header('content-type', 'application/json').send(json);
}

/**
 * Returns the second after a change, so that no two contents have the same date; `undefined` while it is in the future,
 * since such a date must not be sent (RFC 9110, section 8.8.2.1).
 */
function lastModified(changedAt: Date | undefined): Date | undefined {
  if (changedAt === undefined) return undefined;
  const modified = new Date((Math.floor(changedAt.getTime() / 1000) + 1) * 1000);
  return modified.getTime() <= Date.now() ? modified : undefined;
}

/** Adds names to the `Vary` header, keeping those of others, such as CORS. */
function addVary(reply: FastifyReply, names: readonly string[]): void {
  const said = reply.getHeader('vary');
  reply.header('vary', [...(said === undefined ? [] : [said].flat()), ...names].join(', '));
}

/** True if the caller has this very card. The date counts only if the caller sent no tag (RFC 9110, section 13.2.2). */
function isKnown({ headers }: FastifyRequest, etag: string, modified: Date | undefined): boolean {
  const tags = headers['if-none-match'];
  if (tags !== undefined)
    return tags.split(',').some((it) => it.trim() === '*' || opaqueTag(it.trim()) === opaqueTag(etag));
  const since = headers['if-modified-since'];
  return since !== undefined && modified !== undefined && modified.getTime() <= Date.parse(since);
}

/** Returns the opaque part of a tag, for weak comparison (RFC 9110, section 13.1.2). */
function opaqueTag(tag: string): string {
  return tag.replace(/^W\//, '');
}
