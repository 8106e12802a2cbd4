import fastifyStatic from '@fastify/static';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createProblem, requestTrace } from '#libs/http-server';

/** Folder of the built console, relative to this file in `dist/src`. */
const FILES = join(import.meta.dirname, '../apps/console');

/** True if the console was built; Nest's own command builds the service alone. */
export function hasConsole(): boolean {
  return existsSync(join(FILES, 'assets'));
}

/** First path segments of the service's own routes. The console has no pages under them. */
const TAKEN = [
  'a2a',
  'agent-notifications',
  'agui',
  'api',
  'assets',
  'auth',
  'docs',
  'docs-json',
  'docs-yaml',
  'events',
  'health',
  'hooks',
  'mcp',
  'metrics',
  'schemas',
  '\\.well-known',
];
/** Route of the console's pages: all other first segments. */
const PAGE = `/:page(^(?!(?:${TAKEN.join('|')})$)[^/]+$)`;

/** Content security policy: scripts from this origin alone. The components write style elements. */
const POLICY = [
  "default-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

/** Options for sending built files, which never change, since their names contain the hash of the content. */
const FOREVER = { maxAge: '365d', immutable: true };
const ALWAYS_ASK = { 'cache-control': 'no-cache', 'content-security-policy': POLICY };

/**
 * Serves the web console at `/`, and its page for every deep link. If the console was not built, `/` redirects to the
 * API documentation.
 */
export async function serveConsole(app: NestFastifyApplication): Promise<void> {
  const fastify = app.getHttpAdapter().getInstance();
  if (!hasConsole()) {
    fastify.get('/', (_request, reply) => reply.redirect('/docs', 302));
    return;
  }
  await app.register(fastifyStatic, {
    root: join(FILES, 'assets'),
    prefix: '/assets/',
    preCompressed: true,
    ...FOREVER,
  });
  for (const file of ['favicon.svg', 'theme.js']) {
    fastify.get(`/${file}`, (_request, reply) =>
      reply.headers(ALWAYS_ASK).sendFile(file, FILES, { cacheControl: false }),
    );
  }
  for (const path of ['/', PAGE, `${PAGE}/*`]) fastify.get(path, sendPage);
}

/**
 * Sends the page of the console. A client that does not accept HTML gets 404, as does a path with a file extension
 * unless `Accept` names `text/html`.
 */
function sendPage(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const path = request.url.split('?', 1)[0] ?? '';
  const { accept = '*/*' } = request.headers;
  if (!/text\/(html|\*)|\*\/\*/i.test(accept)) {
    const names = { instance: path, requestId: String(request.id), ...requestTrace(request.raw) };
    const body = { ...createProblem(404, 'There is nothing at this address'), ...names };
    return reply.code(404).header('content-type', 'application/problem+json').send(JSON.stringify(body));
  }
  const wantsPage = accept.includes('text/html');
  if (!wantsPage && /\.\w+$/.test(path)) {
    reply.callNotFound();
    return reply;
  }
  return reply.headers(ALWAYS_ASK).sendFile('index.html', FILES, { cacheControl: false });
}
