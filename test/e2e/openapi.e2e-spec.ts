import { Ajv } from 'ajv';
import { KNOWS_CALLERS } from '../support/callers.js';
import { useSharedStage } from '../support/shared-stage.js';

interface Schema {
  $ref?: string;
  type?: string;
  format?: string;
  enum?: unknown[];
  default?: unknown;
  example?: unknown;
  examples?: unknown[];
  items?: Schema;
  properties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  allOf?: Schema[];
  oneOf?: Schema[];
}

type Content = Record<string, { schema?: Schema; example?: unknown; examples?: unknown }>;

interface Operation {
  operationId?: string;
  security?: Record<string, string[]>[];
  parameters?: { name: string; in: string; schema?: Schema; example?: unknown }[];
  requestBody?: { content: Content };
  responses: Record<string, DocumentedAnswer>;
}

interface DocumentedAnswer {
  $ref?: string;
  description?: string;
  content?: Content;
}

interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, Schema>;
    responses: Record<string, DocumentedAnswer>;
    securitySchemes: Record<string, object>;
  };
}

/** What each operation is called: programs that are generated from the document call it by this name. */
const NAMES: Record<string, string> = {
  'DELETE /api/agents/{name}': 'deleteRegisteredAgent',
  'DELETE /api/credentials/{name}': 'deleteCredential',
  'DELETE /api/files/{id}': 'deleteFile',
  'DELETE /api/keys/{id}': 'revokeKey',
  'DELETE /api/mcp-servers/{name}': 'deleteMcpServer',
  'DELETE /api/models/{name}': 'deleteModel',
  'DELETE /api/limits/{name}': 'deleteLimit',
  'DELETE /api/schedules/{name}': 'deleteSchedule',
  'DELETE /api/session': 'endSession',
  'DELETE /api/triggers/{name}': 'deleteTrigger',
  'DELETE /api/workflows/{name}': 'deleteWorkflow',
  'GET /.well-known/jwks.json': 'listSigningKeys',
  'GET /api/agent-card': 'previewAgentCard',
  'GET /api/agent-cards': 'listAgentCards',
  'GET /api/agent-cards/{id}': 'getAgentCard',
  'GET /api/agents': 'listRegisteredAgents',
  'GET /api/agents/{name}': 'getRegisteredAgent',
  'GET /api/brainstorms': 'listBrainstorms',
  'GET /api/brainstorms/{id}': 'getBrainstorm',
  'GET /api/brainstorms/{id}/events': 'streamBrainstormEvents',
  'GET /api/conversations': 'listConversations',
  'GET /api/conversations/{id}': 'getConversation',
  'GET /api/conversations/{id}/events': 'streamConversationEvents',
  'GET /api/credentials': 'listCredentials',
  'GET /api/credentials/{name}': 'getCredential',
  'GET /api/deliveries': 'listDeliveries',
  'GET /api/events': 'streamEvents',
  'GET /api/files': 'listFiles',
  'GET /api/files/{id}': 'readFile',
  'GET /api/inbox': 'listQuestions',
  'GET /api/keys': 'listKeys',
  'GET /api/mcp-servers': 'listMcpServers',
  'GET /api/mcp-servers/{name}': 'getMcpServer',
  'GET /api/models': 'listModels',
  'GET /api/models/{name}': 'getModel',
  'GET /api/overview': 'getOverview',
  'GET /api/runs': 'listRuns',
  'GET /api/runs.csv': 'exportRuns',
  'GET /api/runs/count': 'countRuns',
  'GET /api/runs/{id}': 'getRun',
  'GET /api/runs/{id}/cost': 'getRunCost',
  'GET /api/runs/{id}/diff': 'diffRuns',
  'GET /api/runs/{id}/events': 'streamRunEvents',
  'GET /api/runs/{id}/forks': 'listForks',
  'GET /api/runs/{id}/instances': 'listInstances',
  'GET /api/runs/{id}/nodes/{node}': 'getRunNode',
  'GET /api/runs/{id}/workflow': 'getRunWorkflow',
  'GET /api/limits': 'listLimits',
  'GET /api/limits/{name}': 'getLimit',
  'GET /api/schedules': 'listSchedules',
  'GET /api/schedules/{name}': 'getSchedule',
  'GET /api/schedules/{name}/firings': 'listFirings',
  'GET /api/session': 'getSession',
  'GET /api/tasks/{id}/events': 'listTaskEvents',
  'GET /api/tasks/{id}/prompts': 'listPrompts',
  'GET /api/tasks/{id}/prompts/{call}': 'getPrompt',
  'GET /api/triggers': 'listTriggers',
  'GET /api/triggers/{name}': 'getTrigger',
  'GET /api/triggers/{name}/deliveries': 'listTriggerDeliveries',
  'GET /api/usage': 'reportUsage',
  'GET /api/workflows': 'listWorkflows',
  'GET /api/workflows/{name}': 'getWorkflow',
  'GET /api/workflows/{name}/failures': 'getWorkflowFailures',
  'GET /api/workflows/{name}/revisions': 'listWorkflowRevisions',
  'GET /api/workflows/{name}/revisions/{revision}': 'getWorkflowRevision',
  'GET /api/workflows/{name}/revisions/{revision}/diff': 'diffWorkflowRevisions',
  'GET /auth/options': 'getSignInOptions',
  'GET /files/{id}': 'readSignedFile',
  'GET /health/live': 'getLiveness',
  'GET /health/ready': 'getReadiness',
  'GET /health/startup': 'getStartup',
  'GET /metrics': 'getMetrics',
  'GET /schemas/workflow.json': 'getWorkflowSchema',
  'POST /agent-notifications/{id}': 'receiveAgentNotification',
  'POST /api/agent-cards/{id}/accept': 'acceptAgentCard',
  'POST /api/agent-messages': 'sendAgentMessage',
  'POST /api/agents': 'createRegisteredAgent',
  'POST /api/apply': 'applyWorkflows',
  'POST /api/brainstorms': 'startBrainstorm',
  'POST /api/brainstorms/{id}/approve': 'approveBrainstorm',
  'POST /api/brainstorms/{id}/cancel': 'cancelBrainstorm',
  'POST /api/brainstorms/{id}/iterate': 'iterateBrainstorm',
  'POST /api/conversations': 'startConversation',
  'POST /api/conversations/{id}/cancel': 'cancelConversation',
  'POST /api/conversations/{id}/pause': 'pauseConversation',
  'POST /api/conversations/{id}/resume': 'resumeConversation',
  'POST /api/conversations/{id}/stop': 'stopConversation',
  'POST /api/conversations/{id}/turns': 'injectTurn',
  'POST /api/credentials': 'createCredential',
  'POST /api/deliveries/{id}/redeliver': 'redeliverNotification',
  'POST /api/expressions/check': 'checkExpression',
  'POST /api/files/{id}/urls': 'createFileUrl',
  'POST /api/generate': 'generateWorkflow',
  'POST /api/keys': 'createKey',
  'POST /api/keys/{id}/rotate': 'rotateKey',
  'POST /api/mcp-servers': 'createMcpServer',
  'POST /api/mcp-servers/{name}/accept': 'acceptMcpServer',
  'POST /api/mcp-servers/{name}/call': 'callTool',
  'POST /api/models': 'createModel',
  'POST /api/models/test': 'testUnsavedModel',
  'POST /api/models/{name}/test': 'testModel',
  'POST /api/runs/cancel': 'cancelRuns',
  'POST /api/runs/rerun': 'rerunRuns',
  'POST /api/runs/{id}/answers': 'answerQuestion',
  'POST /api/runs/{id}/cancel': 'cancelRun',
  'POST /api/runs/{id}/rerun': 'startRerun',
  'POST /api/limits': 'createLimit',
  'POST /api/schedules': 'createSchedule',
  'POST /api/schedules/times': 'listTimes',
  'POST /api/schedules/{name}/backfill': 'backfillSchedule',
  'POST /api/schedules/{name}/pause': 'pauseSchedule',
  'POST /api/schedules/{name}/resume': 'resumeSchedule',
  'POST /api/schedules/{name}/run': 'runSchedule',
  'POST /api/session': 'createSession',
  'POST /api/tickets': 'createTicket',
  'POST /api/triggers': 'createTrigger',
  'POST /api/triggers/{name}/deliveries/{number}/replay': 'replayDelivery',
  'POST /api/upload': 'uploadFiles',
  'POST /api/workflows': 'createWorkflow',
  'POST /api/workflows/check': 'checkWorkflow',
  'POST /api/workflows/{name}/revisions/{revision}/restore': 'restoreWorkflowRevision',
  'POST /api/workflows/{name}/run': 'runWorkflow',
  'POST /api/workflows/{name}/runs': 'startRun',
  'POST /hooks/{id}': 'receiveDelivery',
  'PUT /api/agents/{name}': 'replaceRegisteredAgent',
  'PUT /api/credentials/{name}': 'replaceCredential',
  'PUT /api/mcp-servers/{name}': 'replaceMcpServer',
  'PUT /api/models/{name}': 'replaceModel',
  'PUT /api/limits/{name}': 'replaceLimit',
  'PUT /api/schedules/{name}': 'replaceSchedule',
  'PUT /api/triggers/{name}': 'replaceTrigger',
  'PUT /api/workflows/{name}': 'saveWorkflow',
};

const stage = useSharedStage(KNOWS_CALLERS);
let document: Document;
let operations: [route: string, operation: Operation][];

beforeAll(async () => {
  const response = await fetch(`${stage.parley.url}/docs-json`);
  expect(response.status).toBe(200);
  document = (await response.json()) as Document;
  operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, it]): [string, Operation] => [`${method.toUpperCase()} ${path}`, it]),
  );
});

it('each operation is called as a person would call it, and no two are called the same', () => {
  expect(Object.fromEntries(operations.map(([route, { operationId }]) => [route, operationId]))).toEqual(NAMES);
  expect(new Set(Object.values(NAMES)).size).toBe(operations.length);
});

it('each operation says what its success is', () => {
  const silent = operations.filter(([, { responses }]) => {
    const successes = Object.entries(responses).filter(([status]) => status.startsWith('2'));
    return successes.length === 0 || !successes.every(([status, { content }]) => status === '204' || isTyped(content));
  });
  expect(silent.map(([route]) => route)).toEqual([]);
});

it('each operation says who may call it, as the service does', async () => {
  for (const [route, { security, responses }] of operations) {
    const [method = '', path = ''] = route.split(' ');
    const { status } = await fetch(`${stage.parley.url}${path.replaceAll(/\{\w+\}/g, 'nope')}`, { method });
    const secured = status === 401;
    expect({ route, security, told: ['401', '403'].map((it) => it in responses) }).toEqual({
      route,
      security: secured ? [{ bearer: [] }, { apiKey: [] }] : [],
      // Files, notifications and deliveries are refused for their signature or token, not for their caller.
      told: [
        secured || route === 'POST /hooks/{id}',
        secured || route === 'GET /files/{id}' || route === 'POST /agent-notifications/{id}',
      ],
    });
  }
});

it('keys are no JSON Web Tokens', () => {
  expect(document.components.securitySchemes).toEqual({
    bearer: { type: 'http', scheme: 'bearer' },
    apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
  });
});

it('each operation has a whole example of what it takes and of what it answers', () => {
  const missing = operations.flatMap(([route, { parameters = [], requestBody, responses }]) => [
    ...parameters
      .filter((it) => it.in === 'query')
      .flatMap((it) => (it.example === undefined ? unexplained(it.schema, `${route} ?${it.name}`) : [])),
    ...unexplainedIn(requestBody?.content, `${route} body`),
    ...Object.entries(responses).flatMap(([status, { content }]) => unexplainedIn(content, `${route} ${status}`)),
  ]);
  expect([...new Set(missing)]).toEqual([]);
});

/** Members of a schema in OpenAPI 3.0, which has fewer than JSON Schema. */
const MEMBERS = new Set(
  [
    '$ref title multipleOf maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength pattern maxItems',
    'minItems uniqueItems maxProperties minProperties required enum type not allOf oneOf anyOf items properties',
    'additionalProperties description format default nullable discriminator readOnly writeOnly example deprecated',
  ].flatMap((line) => line.split(' ')),
);

it('each schema has only members of OpenAPI 3.0', () => {
  const foreign = allSchemas().flatMap(([path, schema]) =>
    Object.keys(schema).flatMap((name) => (MEMBERS.has(name) ? [] : [`${path}.${name}`])),
  );
  expect(foreign).toEqual([]);
});

it('each example of a schema conforms to it', () => {
  const ajv = new Ajv({ strict: false, validateFormats: false });
  const wrong = allSchemas().flatMap(([path, schema]) => {
    if (schema.example === undefined) return [];
    const isValid = ajv.compile({ ...schema, components: document.components });
    return isValid(schema.example) ? [] : [`${path}: ${ajv.errorsText(isValid.errors)}`];
  });
  expect(wrong).toEqual([]);
});

it('each operation of /api documents the refusals that all have in common', () => {
  const silent = operations
    .filter(([route]) => route.includes(' /api/'))
    .flatMap(([route, { requestBody, responses }]) =>
      ['400', '429', '503', ...(requestBody ? ['413', '415'] : [])]
        .filter((status) => answerOf(responses[status])?.content?.['application/problem+json'] === undefined)
        .map((status) => `${route} ${status}`),
    );
  expect(silent).toEqual([]);
});

function answerOf(answer: DocumentedAnswer | undefined): DocumentedAnswer | undefined {
  const name = answer?.$ref?.split('/').at(-1);
  return name === undefined ? answer : document.components.responses[name];
}

/** All schemas of the document with their paths, those inside others too. */
function allSchemas(): [path: string, schema: Schema][] {
  const named = Object.entries(document.components.schemas).flatMap(([name, schema]) => schemasIn(schema, name));
  const own = operations.flatMap(([route, { parameters = [], requestBody, responses }]) => [
    ...parameters.flatMap(({ name, schema }) => schemasIn(schema, `${route} ?${name}`)),
    ...[requestBody, ...Object.values(responses)].flatMap((it) =>
      Object.values(it?.content ?? {}).flatMap(({ schema }) => schemasIn(schema, route)),
    ),
  ]);
  return [...named, ...own];
}

function schemasIn(schema: Schema | undefined, path: string): [path: string, schema: Schema][] {
  if (!schema) return [];
  const { properties = {}, items, allOf = [], oneOf = [], additionalProperties } = schema;
  return [
    [path, schema],
    ...Object.entries(properties).flatMap(([name, it]) => schemasIn(it, `${path}.${name}`)),
    ...schemasIn(items, `${path}[]`),
    ...[...allOf, ...oneOf].flatMap((it) => schemasIn(it, path)),
    ...(typeof additionalProperties === 'object' ? schemasIn(additionalProperties, `${path}.*`) : []),
  ];
}

function isTyped(content: Content | undefined): boolean {
  return Object.values(content ?? {}).some(({ schema }) => {
    const found = schema && resolved(schema);
    if (!found || Object.keys(found).length === 0) return false;
    if (found.type !== 'object') return true;
    return found.properties !== undefined || found.additionalProperties !== undefined;
  });
}

function resolved(schema: Schema): Schema {
  if (schema.$ref === undefined) return schema;
  const name = schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1);
  return document.components.schemas[name] ?? {};
}

function unexplainedIn(content: Content | undefined, path: string): string[] {
  return Object.values(content ?? {}).flatMap(({ schema, example, examples }) =>
    example === undefined && examples === undefined ? unexplained(schema, path) : [],
  );
}

/** The places at which nobody could tell what a value looks like. */
function unexplained(schema: Schema | undefined, path: string, within: readonly string[] = []): string[] {
  if (!schema) return [path];
  if (schema.$ref !== undefined) {
    if (within.includes(schema.$ref)) return [];
    return unexplained(resolved(schema), path, [...within, schema.$ref]);
  }
  const told = [schema.example, schema.examples, schema.default, schema.enum];
  if (told.some((it) => it !== undefined)) return [];
  if (schema.type === 'boolean' || schema.format === 'date-time') return [];
  const parts = schema.allOf ?? schema.oneOf;
  if (parts) return parts.flatMap((it) => unexplained(it, path, within));
  if (schema.type === 'array') return unexplained(schema.items, `${path}[]`, within);
  if (schema.properties) {
    return Object.entries(schema.properties).flatMap(([name, it]) => unexplained(it, `${path}.${name}`, within));
  }
  return typeof schema.additionalProperties === 'object'
    ? unexplained(schema.additionalProperties, `${path}.*`, within)
    : [path];
}
