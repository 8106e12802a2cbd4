import { APP_FILTER, APP_PIPE } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { NodeTypes } from '#libs/agents';
import { ApiValidationPipe, ProblemFilter, ResponseBudget } from '#libs/http-server';
import type { JsonValue } from '#libs/protocol';
import { WorkflowStore } from '../storage/workflow-store.js';
import { MemoryWorkflowStore } from '../testing/memory-workflow-store.js';
import { WorkflowCheck } from './workflow-check.js';
import { WorkflowPages } from './workflow-pages.js';
import { WorkflowRevisionsController } from './workflow-revisions.controller.js';
import { WorkflowsController } from './workflows.controller.js';

const nodeTypes = {
  names: ['agent'],
  configKeys: () => ['prompt'],
  findProblems: ({ id, type }: { id: string; type: string }) =>
    type === 'agent' ? [] : [`node "${id}": unknown type "${type}"`],
};

const workflow = {
  name: 'w',
  nodes: [
    { id: 'a', type: 'agent', config: {} },
    { id: 'b', type: 'agent', config: {} },
  ],
  edges: [{ from: 'a', to: 'b' }],
};

let app: NestFastifyApplication;

beforeEach(async () => {
  const module = await Test.createTestingModule({
    controllers: [WorkflowsController, WorkflowRevisionsController],
    providers: [
      { provide: WorkflowStore, useClass: MemoryWorkflowStore },
      WorkflowCheck,
      WorkflowPages,
      { provide: ResponseBudget, useValue: { enterAnswer: async () => () => undefined } },
      { provide: NodeTypes, useValue: nodeTypes },
      { provide: APP_PIPE, useClass: ApiValidationPipe },
      { provide: APP_FILTER, useFactory: () => new ProblemFilter() },
    ],
  }).compile();
  app = module.createNestApplication<NestFastifyApplication>(new FastifyAdapter(), { logger: false });
  await app.init();
  await app.getHttpAdapter().getInstance().ready();
});

afterEach(() => app.close());

function call(
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  url: string,
  payload?: object,
  headers: Record<string, string> = {},
) {
  return app.inject({ method, url: `/api/workflows${url}`, headers, ...(payload && { payload }) });
}

describe('WorkflowsController', () => {
  it('lists in pages, whose tokens stand in headers beside the list', async () => {
    for (const name of ['c', 'a', 'b']) await call('POST', '', { ...workflow, name });
    const first = await call('GET', '?pageSize=2');
    expect(first.json()).toMatchObject([{ name: 'a', revision: '1' }, { name: 'b' }]);
    expect(first.headers).toMatchObject({
      'next-page-token': 'b',
      link: '</api/workflows?pageSize=2&pageToken=b>; rel="next"',
    });
    const last = await call('GET', '?pageSize=2&pageToken=b');
    expect(last.json()).toEqual([(await call('GET', '/c')).json()]);
    expect(last.headers['next-page-token']).toBeUndefined();
    expect((await call('GET', '')).json()).toHaveLength(3);
    for (const query of ['?pageSize=0', '?pageSize=2001', '?pageToken=a/b'])
      expect((await call('GET', query)).statusCode).toBe(400);
  });

  it('refuses a definition that is too large, naming what of it is', async () => {
    const prompt = 'x'.repeat(70_000);
    const nodes = [{ id: 'a', type: 'agent', config: { prompt } }];
    const reply = await call('POST', '', { ...workflow, nodes, edges: [] });
    expect(reply.statusCode).toBe(422);
    expect(reply.json()).toMatchObject({ errors: [{ path: 'nodes[0].config.prompt', code: 'TEXT_TOO_LONG' }] });
    expect((await call('GET', '')).json()).toEqual([]);
  });

  it('creates, shows, lists, replaces and deletes (row F1)', async () => {
    const created = await call('POST', '', workflow);
    expect(created.statusCode).toBe(201);
    expect(created.headers.location).toBe('/api/workflows/w');
    expect(created.json()).toMatchObject({ ...workflow, revision: '1', createdAt: expect.any(String) });
    expect((await call('GET', '/w')).json()).toEqual(created.json());
    expect((await call('GET', '')).json()).toEqual([created.json()]);
    const replaced = await call('PUT', '/w', { ...workflow, name: 'other', description: 'new' });
    expect(replaced.statusCode).toBe(200);
    expect(replaced.json()).toMatchObject({ name: 'w', description: 'new', revision: '2' });
    const deleted = await call('DELETE', '/w');
    expect([deleted.statusCode, deleted.body]).toEqual([204, '']);
    expect((await call('GET', '')).json()).toEqual([]);
  });

  it('takes the name of a replacement from the path alone', async () => {
    await call('POST', '', workflow);
    const { name: _name, ...nameless } = workflow;
    expect((await call('PUT', '/w', nameless)).json()).toMatchObject({ name: 'w', revision: '2' });
  });

  it.each(['GET', 'DELETE'] as const)('answers %s of an unknown workflow with 404', async (method) => {
    for (const name of ['nope', '%00', '%2F', 'a b']) {
      const reply = await call(method, `/${name}`);
      expect(reply.statusCode).toBe(404);
      expect(reply.json<{ detail: JsonValue }>()).toMatchObject({ detail: 'workflow not found', reason: 'NOT_FOUND' });
    }
  });

  it('PUT creates what there is not, under a name that may be one', async () => {
    const created = await call('PUT', '/w', { ...workflow, $schema: 'https://x/y.json' });
    expect([created.statusCode, created.headers.etag, created.headers.location]).toEqual([
      201,
      '"1"',
      '/api/workflows/w',
    ]);
    expect(created.json()).toMatchObject({ name: 'w', $schema: 'https://x/y.json' });
    expect((await call('PUT', '/w', workflow)).headers.etag).toBe('"2"');
    for (const name of ['%00', '%2F', 'a b']) {
      const reply = await call('PUT', `/${name}`, workflow);
      expect(reply.statusCode).toBe(422);
      expect(reply.json()).toMatchObject({ errors: [{ path: 'name', code: 'INVALID_NAME' }] });
    }
  });

  it('changes only the revision that the caller knows', async () => {
    const none = { 'if-none-match': '*' };
    expect((await call('PUT', '/w', workflow, { 'if-match': '*' })).statusCode).toBe(412);
    expect((await call('PUT', '/w', workflow, { 'if-match': '"1"' })).statusCode).toBe(412);
    expect((await call('PUT', '/w', workflow, none)).statusCode).toBe(201);
    const refused = await call('PUT', '/w', workflow, none);
    expect(refused.json()).toMatchObject({ status: 412, reason: 'PRECONDITION_FAILED' });
    const replaced = await call('PUT', '/w', workflow, { 'if-match': '"7", "1"' });
    expect([replaced.statusCode, replaced.headers.etag]).toEqual([200, '"2"']);
    expect((await call('PUT', '/w', workflow, { 'if-match': '"1"' })).statusCode).toBe(412);
    expect((await call('DELETE', '/w', undefined, { 'if-match': '"1"' })).statusCode).toBe(412);
    for (const header of ['If-Match', 'If-None-Match']) {
      const reply = await call('PUT', '/w', workflow, { [header]: '2' });
      expect(reply.json()).toMatchObject({ status: 400, reason: 'MALFORMED', errors: [{ path: header }] });
    }
    expect((await call('DELETE', '/w', undefined, { 'if-match': '' })).statusCode).toBe(400);
    expect((await call('GET', '/w', undefined, { 'if-none-match': '2' })).statusCode).toBe(200);
    const read = await call('GET', '/w', undefined, { 'if-none-match': '"2"' });
    expect([read.statusCode, read.body, read.headers.etag]).toEqual([304, '', '"2"']);
    expect((await call('DELETE', '/w', undefined, { 'if-match': '"2"' })).statusCode).toBe(204);
    expect((await call('DELETE', '/w', undefined, { 'if-match': '"2"' })).statusCode).toBe(404);
  });

  it('shows what was saved, the newest first', async () => {
    for (const description of ['one', 'two', 'three']) await call('PUT', '/w', { ...workflow, description });
    const first = await call('GET', '/w/revisions?pageSize=2');
    expect(first.json()).toMatchObject({ revisions: [{ revision: '3' }, { revision: '2' }], nextPageToken: '2' });
    const rest = await call('GET', '/w/revisions?pageSize=2&pageToken=2');
    expect(rest.json()).toMatchObject({
      revisions: [{ revision: '1', savedAt: expect.any(String) }],
      nextPageToken: '',
    });
    const one = await call('GET', '/w/revisions/1');
    expect(one.json()).toMatchObject({ name: 'w', description: 'one', revision: '1' });
    expect(one.headers.etag).toBe('"1"');
    for (const url of ['/w/revisions/9', '/w/revisions/x', '/v/revisions', '/v/revisions/1'])
      expect((await call('GET', url)).statusCode).toBe(404);
    expect((await call('GET', '/w/revisions?pageToken=x')).statusCode).toBe(400);
  });

  it('tells of what may not be meant, and refuses it where that is asked for', async () => {
    const nodes = [workflow.nodes[0], { id: 'b', type: 'agent', config: { prompt: 'ß {{nope}}', promt: 1 } }];
    const odd = { ...workflow, nodes };
    const problems = [
      { severity: 'warning', code: 'UNKNOWN_CONFIG_KEY', path: 'nodes[1].config.promt', node: 'b' },
      { severity: 'warning', code: 'UNKNOWN_REFERENCE', path: 'nodes[1].config.prompt', node: 'b', offset: 2 },
    ];
    expect((await call('POST', '/check', odd)).json()).toMatchObject({ problems });
    expect((await call('POST', '?strict=true', odd)).json()).toMatchObject({ status: 422, errors: problems });
    expect((await call('GET', '/w')).statusCode).toBe(404);
    const saved = await call('POST', '', odd);
    expect(saved.statusCode).toBe(201);
    expect(saved.json()).toMatchObject({ problems });
    expect((await call('GET', '/w')).json()).not.toHaveProperty('problems');
    expect((await call('POST', '/check', workflow)).json()).toEqual({ problems: [] });
    const malformed = await call('POST', '/check', { name: 5, nodes: [], edges: [{ from: 'a', to: 'b', when: 'x' }] });
    expect(malformed.json()).toMatchObject({ problems: [{ severity: 'error', code: 'MALFORMED', path: 'name' }] });
  });

  it('lets others have their turn after it has read a large definition, before it is checked', async () => {
    const nodes = Array.from({ length: 1_000 }, (_, index) => ({ id: `n${index}`, type: 'agent', config: {} }));
    const check = app.get(WorkflowCheck);
    const store = app.get(WorkflowStore).inTenant('');
    const order: string[] = [];
    setImmediate(() => order.push('another'));
    await check.findProblems({ name: 'w', nodes, edges: [] }, store).then(() => order.push('checked'));
    expect(order).toEqual(['another', 'checked']);
  });

  it('answers 409 for a name that is taken', async () => {
    await call('POST', '', workflow);
    const reply = await call('POST', '', workflow);
    expect(reply.statusCode).toBe(409);
    expect(reply.json()).toMatchObject({ detail: 'the workflow "w" exists already' });
  });

  it('answers 400 for a malformed body, naming each member', async () => {
    const reply = await call('POST', '', { name: 5, nodes: [{ id: 'a' }] });
    expect(reply.statusCode).toBe(400);
    expect(reply.json()).toMatchObject({
      errors: [
        { path: 'name', detail: 'must be a string' },
        { path: 'nodes[0].type', detail: 'must be a string' },
      ],
    });
    const listless = await call('POST', '', { name: 'w', nodes: null });
    expect((listless.json() as { errors: unknown }).errors).toEqual([{ path: 'nodes', detail: 'must be an array' }]);
    expect((await call('GET', '')).json()).toEqual([]);
  });

  it('answers 422 for an invalid graph, with one entry per problem and the texts of row C5', async () => {
    const invalid = {
      name: 'w',
      nodes: [workflow.nodes[0], workflow.nodes[0], { id: 'c', type: 'teleport' }],
      edges: [{ from: 'a', to: 'nope' }],
    };
    await call('POST', '', workflow);
    for (const reply of [await call('POST', '', { ...invalid, name: 'w2' }), await call('PUT', '/w', invalid)]) {
      expect(reply.statusCode).toBe(422);
      expect(reply.json()).toMatchObject({
        errors: [
          { path: 'nodes[1].id', detail: 'build DAG: duplicate node ID: a' },
          { path: 'edges[0].to', detail: 'build DAG: edge references unknown node: nope' },
          { path: 'nodes[2]', detail: 'node "c": unknown type "teleport"' },
        ],
      });
    }
    expect((await call('GET', '/w')).json()).toMatchObject({ revision: '1' });
    const cycle = await call('POST', '', {
      ...workflow,
      name: 'c',
      edges: [...workflow.edges, { from: 'b', to: 'a' }],
    });
    expect(cycle.json()).toMatchObject({
      status: 422,
      detail: 'build DAG: cycle detected in workflow graph (excluding back-edges)',
    });
  });
});
