import type { FastifyInstance } from 'fastify';
import { forClient } from '#libs/postgres';

const READS_API = /^\/api(\/|\?|$)/;

/**
 * Ends reads of `/api` when their client leaves. Applies only to GET: operations started by other methods continue
 * without their client.
 */
export function endReadsOfGoneClients(fastify: FastifyInstance): void {
  fastify.addHook('preHandler', ({ method, url }, { raw }, done) => {
    if (method !== 'GET' || !READS_API.test(url)) return done();
    forClient((gone) => !raw.closed && raw.once('close', gone) === raw, done);
  });
}
