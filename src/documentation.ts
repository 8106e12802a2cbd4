import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { routeAccess } from '#libs/access';
import { Problem, PROBLEM_RESPONSE } from '#libs/http';
import type { AppConfig } from '#libs/service';

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
  if (mode !== 'none') head.addBearerAuth();
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

/** Adds the access rules to each operation, from the table that authorizes requests. */
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
