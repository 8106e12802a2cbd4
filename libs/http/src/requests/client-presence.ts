import type { FastifyInstance } from 'fastify';
import { forClient } from '#libs/postgres';

const READS_API = /^\/api(\/|\?|$)/;

/**
 * Has lists and searches of `/api` end when their client leaves. Only of GET requests: what another one starts goes on
 * without its client.
 */
export function endReadsOfGoneClients(fastify: FastifyInstance): void {
  fastify.addHook('preHandler', ({ method, url }, { raw }, done) => {
    if (method !== 'GET' || !READS_API.test(url)) return done();
    forClient((gone) => !raw.closed && raw.once('close', gone) === raw, done);
  });
}
