import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { routeAccess } from '#libs/access';
import { Problem, PROBLEM_RESPONSE } from '#libs/http-server';
import type { AppConfig } from '#libs/service';
import { linkOperations } from './api-links.js';

type DocumentedOperation = NonNullable<OpenAPIObject['paths'][string]['get']>;
type DocumentedSchema = Record<string, unknown>;

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
    return completeDocument(document, schemes);
  });
}

/** Adds to each operation what the service does before and after its handler: access, limits and failures. */
function completeDocument(document: OpenAPIObject, schemes: readonly string[]): OpenAPIObject {
  // Clients resolve paths against the address of the document.
  document.servers = [{ url: '/' }];
  document.components = { ...document.components, responses: REFUSALS };
  for (const [path, item] of Object.entries(document.paths)) {
    for (const method of METHODS) {
      const operation = item[method];
      if (!operation) continue;
      secureOperation(operation, routeAccess(method.toUpperCase(), routeOf(path)), schemes);
      if (path.startsWith('/api/')) describeRefusals(operation);
    }
    if (item.put && path.endsWith('/{name}')) namePathAlone(item.put, document);
  }
  linkOperations(document);
  openAnyJson(document);
  return document;
}

/** Removes the alternatives of members that may have any JSON value (ANY_JSON): in OpenAPI they have no type at all. */
function openAnyJson({ components }: OpenAPIObject): void {
  for (const schema of Object.values((components?.schemas ?? {}) as Record<string, DocumentedSchema>)) {
    for (const member of Object.values((schema['properties'] ?? {}) as Record<string, DocumentedSchema>))
      if (JSON.stringify(member['oneOf']) === '[{}]') delete member['oneOf'];
  }
}

const RETRY_AFTER = {
  headers: { 'Retry-After': { description: 'Seconds until the next try.', schema: { type: 'integer' as const } } },
};

/** Refusals that operations of `/api` have in common, by name. */
const REFUSALS = {
  Malformed: { description: 'The request is malformed.', ...PROBLEM_RESPONSE },
  TooLarge: { description: 'The body is larger than BODY_LIMIT.', ...PROBLEM_RESPONSE },
  OtherMediaType: { description: 'The body has another media type, or is compressed.', ...PROBLEM_RESPONSE },
  Limited: { description: 'The caller has reached one of its limits.', ...PROBLEM_RESPONSE, ...RETRY_AFTER },
  Unavailable: { description: 'A part of the service is out of reach now.', ...PROBLEM_RESPONSE, ...RETRY_AFTER },
};

/** Adds the refusals that every operation of `/api` has in common, unless the operation documents its own. */
function describeRefusals({ requestBody, responses }: DocumentedOperation): void {
  const refuse = (status: string, name: keyof typeof REFUSALS): void => {
    responses[status] ??= { $ref: `#/components/responses/${name}` };
  };
  for (const status of ['429', '503']) if (responses[status]) Object.assign(responses[status], RETRY_AFTER);
  refuse('400', 'Malformed');
  if (requestBody) refuse('413', 'TooLarge');
  if (requestBody) refuse('415', 'OtherMediaType');
  refuse('429', 'Limited');
  refuse('503', 'Unavailable');
}

/**
 * Describes the body of an operation that replaces the object of its path: the path has the name, and a `name` in the
 * body is ignored.
 */
function namePathAlone({ requestBody }: DocumentedOperation, document: OpenAPIObject): void {
  const schemas = (document.components?.schemas ?? {}) as Record<string, DocumentedSchema>;
  const body = requestBody as { content: Record<string, { schema: DocumentedSchema }> } | undefined;
  for (const { schema } of Object.values(body?.content ?? {})) {
    for (const form of (schema['oneOf'] as DocumentedSchema[] | undefined) ?? [schema]) {
      const name = String(form['$ref']).replace(/^.*\//, '');
      const replacement = name.includes('Replacement') ? name : name.replace(/Body$/, 'ReplacementBody');
      schemas[replacement] = withoutName(schemas[name] ?? {});
      form['$ref'] = `#/components/schemas/${replacement}`;
    }
  }
}

function withoutName({ properties, required, ...schema }: DocumentedSchema): DocumentedSchema {
  const name = { description: 'Ignored: the path has the name.', example: 'greeting' };
  const others = (required as string[]).filter((it) => it !== 'name');
  return { ...schema, properties: { ...(properties as object), name }, ...(others.length > 0 && { required: others }) };
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
