import fastifyStatic from '@fastify/static';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { routeAccess } from '#libs/access';
import { createProblem, Problem, PROBLEM_RESPONSE, requestTrace } from '#libs/http-server';
import type { AppConfig } from '#libs/service';

/** Folder of the built console, relative to this file in `dist/src`. */
const FILES = join(import.meta.dirname, '../apps/console');

/** True if the console was built; Nest's own command builds the service alone. */
export function hasConsole(): boolean {
  return existsSync(join(FILES, 'assets'));
}

/** First path segments of the service's own routes. The console has no pages under them. */
const TAKEN = [
  'a2a',
  'api',
  'assets',
  'auth',
  'docs',
  'docs-json',
  'docs-yaml',
  'events',
  'health',
  'mcp',
  'metrics',
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

type DocumentedOperation = NonNullable<OpenAPIObject['paths'][string]['get']>;

const METHODS = ['get', 'put', 'post', 'delete'] as const;

/**
 * Serves the OpenAPI document of the management API at `/docs`, and as JSON at `/docs-json`. Operation ids are the
 * names of controller methods, so these are unique in the whole API: `startRun`, `listRuns`.
 */
export function serveDocumentation(app: NestFastifyApplication, config: AppConfig): void {
  const head = new DocumentBuilder()
    .setTitle(config.serviceName)
    .setDescription(
      'The management API. The agents are at `/a2a/` (the service itself), `/a2a/workflows/{workflow}/` and ' +
        '`/a2a/workflows/{workflow}/nodes/{node}/`: the A2A specification and the card of each, at ' +
        '`.well-known/agent-card.json` below it, describe them.',
    )
    .setVersion('1');
  const { mode } = config.auth;
  // `addBearerAuth` would call the keys of AUTH_MODE=api-key JSON Web Tokens.
  const format = mode === 'jwt' && { bearerFormat: 'JWT' };
  if (mode !== 'none') head.addSecurity('bearer', { type: 'http', scheme: 'bearer', ...format });
  if (mode === 'api-key') head.addApiKey({ type: 'apiKey', in: 'header', name: 'X-API-Key' }, 'apiKey');
  const schemes = { none: [], jwt: ['bearer'], 'api-key': ['bearer', 'apiKey'] }[mode];
  SwaggerModule.setup('docs', app, () => {
    const document = SwaggerModule.createDocument(app, head.build(), {
      operationIdFactory: (_controller, method) => method,
      extraModels: [Problem],
    });
    return secureDocument(document, schemes);
  });
}

/**
 * Adds the required permission to each operation of the document, from the table by which the auth guard authorizes
 * requests.
 */
function secureDocument(document: OpenAPIObject, schemes: readonly string[]): OpenAPIObject {
  for (const [path, item] of Object.entries(document.paths)) {
    for (const method of METHODS) {
      const operation = item[method];
      if (operation) secureOperation(operation, routeAccess(method.toUpperCase(), routeOf(path)), schemes);
    }
  }
  return document;
}

function secureOperation(
  operation: DocumentedOperation,
  access: ReturnType<typeof routeAccess>,
  schemes: readonly string[],
): void {
  if (access === 'public') {
    operation.security = [];
    return;
  }
  operation.security = schemes.map((scheme) => ({ [scheme]: [] }));
  if (schemes.length === 0) return;
  operation.responses['401'] ??= { description: 'The credentials are missing or not valid.', ...PROBLEM_RESPONSE };
  const scopes = access.map((it) => `\`${it}\``).join(' or ');
  operation.responses['403'] ??= { description: `The caller lacks the scope ${scopes}.`, ...PROBLEM_RESPONSE };
}

/** Converts a path to the router's syntax: `/api/runs/{id}` becomes `/api/runs/:id`. */
function routeOf(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}
