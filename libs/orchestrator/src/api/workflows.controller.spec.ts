import { APP_FILTER } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { NodeTypes } from '#libs/executor';
import type { JsonValue } from '#libs/protocol';
import { WorkflowStore } from '../workflow-store.js';
import { MemoryWorkflowStore } from './memory-workflow-store.js';
import { ProblemFilter } from './problem-filter.js';
import { WorkflowsController } from './workflows.controller.js';

const nodeTypes = {
  names: ['agent'],
  problems: ({ id, type }: { id: string; type: string }) =>
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
    controllers: [WorkflowsController],
    providers: [
      { provide: WorkflowStore, useClass: MemoryWorkflowStore },
      { provide: NodeTypes, useValue: nodeTypes },
      { provide: APP_FILTER, useClass: ProblemFilter },
    ],
  }).compile();
  app = module.createNestApplication<NestFastifyApplication>(new FastifyAdapter(), { logger: false });
  await app.init();
  await app.getHttpAdapter().getInstance().ready();
});

afterEach(() => app.close());

function call(method: 'GET' | 'POST' | 'PUT' | 'DELETE', url: string, payload?: object) {
  return app.inject({ method, url: `/api/workflows${url}`, ...(payload && { payload }) });
}

describe('WorkflowsController', () => {
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

  it.each(['GET', 'PUT', 'DELETE'] as const)('answers %s of an unknown workflow with 404', async (method) => {
    for (const name of ['nope', '%00', '%2F', 'a b']) {
      const reply = await call(method, `/${name}`, method === 'PUT' ? workflow : undefined);
      expect(reply.statusCode).toBe(404);
      expect(reply.json<{ detail: JsonValue }>().detail).toBe('workflow not found');
    }
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
