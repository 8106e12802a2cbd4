import { APP_FILTER, APP_PIPE } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { NodeTypes } from '#libs/agents';
import { ConfigurationKinds } from '#libs/configuration';
import { ApiValidationPipe, ProblemFilter } from '#libs/http-server';
import { Database } from '#libs/postgres';
import type { JsonObject } from '#libs/protocol';
import { WorkflowStore } from '../storage/workflow-store.js';
import { MemoryWorkflowStore } from '../testing/memory-workflow-store.js';
import { ApplyController, ObjectReferences, WorkflowApply } from './apply.controller.js';
import { WorkflowCheck } from './workflow-check.js';

const nodeTypes = {
  names: ['agent', 'workflow'],
  configKeys: () => ['prompt', 'workflow', 'revision'],
  findProblems: ({ id, type }: { id: string; type: string }) =>
    ['agent', 'workflow'].includes(type) ? [] : [`node "${id}": unknown type "${type}"`],
};

const named = (name: string, prompt = 'hello'): JsonObject => ({
  name,
  nodes: [{ id: 'a', type: 'agent', config: { prompt } }],
  edges: [],
});
const parent = (name: string, workflow: string): JsonObject => ({
  name,
  nodes: [{ id: 'sub', type: 'workflow', config: { workflow } }],
  edges: [],
});

let app: NestFastifyApplication;
let store: WorkflowStore;

beforeEach(async () => {
  const module = await Test.createTestingModule({
    controllers: [ApplyController],
    providers: [
      { provide: WorkflowStore, useClass: MemoryWorkflowStore },
      WorkflowCheck,
      WorkflowApply,
      ConfigurationKinds,
      { provide: Database, useValue: {} },
      { provide: ObjectReferences, useValue: {} },
      { provide: NodeTypes, useValue: nodeTypes },
      { provide: APP_PIPE, useClass: ApiValidationPipe },
      { provide: APP_FILTER, useFactory: () => new ProblemFilter() },
    ],
  }).compile();
  app = module.createNestApplication<NestFastifyApplication>(new FastifyAdapter(), { logger: false });
  await app.init();
  await app.getHttpAdapter().getInstance().ready();
  store = app.get(WorkflowStore);
});

afterEach(() => app.close());

async function apply(workflows: JsonObject[], more: JsonObject = {}, query = '') {
  const payload = { workflows, ...more };
  const answer = await app.inject({ method: 'POST', url: `/api/apply${query}`, payload });
  return { status: answer.statusCode, body: answer.json() };
}

const names = async (): Promise<string[]> => (await store.listRevisions(100)).map(({ definition }) => definition.name);

describe('ApplyController', () => {
  it('creates, updates and leaves alone; what is unchanged gets no new revision', async () => {
    const first = await apply([{ definition: named('b') }, { definition: named('a') }]);
    expect(first).toEqual({
      status: 200,
      body: {
        workflows: [
          { name: 'a', action: 'created', revision: '1' },
          { name: 'b', action: 'created', revision: '1' },
        ],
      },
    });
    const second = await apply([{ definition: named('a') }, { definition: named('b', 'other') }]);
    expect(second.body.workflows).toEqual([
      { name: 'a', action: 'unchanged', revision: '1' },
      { name: 'b', action: 'updated', revision: '2' },
    ]);
  });

  it('says what it would do, and does nothing', async () => {
    const { body } = await apply([{ definition: named('a') }], {}, '?dryRun=true');
    expect(body.workflows).toMatchObject([{ name: 'a', action: 'created' }]);
    expect(await names()).toEqual([]);
  });

  it('saves nothing where one is invalid, and names all that is wrong', async () => {
    const wrong = { ...named('b'), nodes: [{ id: 'x', type: 'odd', config: {} }] };
    const { status, body } = await apply([{ definition: named('a') }, { definition: wrong }]);
    expect([status, body.reason]).toEqual([422, 'INVALID_WORKFLOW']);
    expect(body.errors).toMatchObject([{ path: expect.stringMatching(/^workflows\[1\]\.definition\.nodes\[0\]/) }]);
    expect(body.detail).toContain('workflow "b": node "x"');
    expect(await names()).toEqual([]);
  });

  it('names the workflow that has another revision than was expected', async () => {
    await apply([{ definition: named('a') }]);
    await apply([{ definition: named('a', 'by somebody else') }]);
    const late = await apply([{ definition: named('a', 'mine'), revision: '1' }, { definition: named('b') }]);
    expect([late.status, late.body.detail]).toEqual([412, expect.stringContaining('"a" has the revision 2')]);
    expect(await names()).toEqual(['a']);
    expect((await apply([{ definition: named('a'), revision: null }])).status).toBe(412);
    expect((await apply([{ definition: named('c'), revision: '1' }])).body.detail).toContain('"c" is not there');
    expect((await apply([{ definition: named('c'), revision: null }])).status).toBe(200);
  });

  it('replaces with adopt false only what has the same mark or the expected revision, and names all else', async () => {
    await apply([{ definition: named('console') }]);
    await apply([{ definition: named('other') }], { mark: 'n' });
    await apply([{ definition: named('mine') }], { mark: 'm' });
    const mine = { mark: 'm', adopt: false };
    const sent = ['mine', 'other', 'console', 'new'].map((name) => ({ definition: named(name, 'changed') }));
    for (const query of ['', '?dryRun=true']) {
      const { status, body } = await apply(sent, mine, query);
      expect([status, body.reason]).toEqual([412, 'NOT_ADOPTED']);
      expect(body.errors.map(({ path }: JsonObject) => path)).toEqual([
        'workflows[1].definition.name',
        'workflows[2].definition.name',
      ]);
      expect(body.detail).toContain('"console" is there with the revision 1');
    }
    expect((await apply(sent, { adopt: false })).body.errors).toHaveLength(3);
    expect(await names()).toEqual(['console', 'mine', 'other']);
    expect((await store.get('mine'))?.revision).toBe('1');
    expect((await apply([sent[0]!, sent[3]!], mine)).status).toBe(200);
    expect((await apply([{ definition: named('console') }], mine)).body.workflows).toMatchObject([
      { action: 'unchanged' },
    ]);
    expect((await apply([{ ...sent[1]!, revision: '1' }], mine)).status).toBe(200);
    expect((await apply([{ definition: named('other', 'again') }], mine)).status).toBe(200);
  });

  it('replaces any workflow where adopt is true or left out', async () => {
    const adoptions: JsonObject[] = [{}, { adopt: true }, { adopt: null }];
    for (const more of adoptions) {
      await apply([{ definition: named('a') }]);
      expect((await apply([{ definition: named('a', 'changed') }], { mark: 'm', ...more })).status).toBe(200);
    }
  });

  it('saves what a workflow runs before it, and the workflow again where that has changed', async () => {
    const sent = [{ definition: parent('a', 'b') }, { definition: named('b') }];
    expect((await apply(sent)).status).toBe(200);
    expect((await apply(sent)).body.workflows).toMatchObject([{ action: 'unchanged' }, { action: 'unchanged' }]);
    const changed = [{ definition: parent('a', 'b') }, { definition: named('b', 'new') }];
    expect((await apply(changed)).body.workflows).toMatchObject([{ action: 'updated' }, { action: 'updated' }]);
    expect((await store.get('a'))?.definition.nodes[0]?.config).toMatchObject({ workflow: 'b', revision: '2' });
    const broken = [
      { definition: parent('a', 'b') },
      { definition: { ...named('b'), nodes: [{ id: 'x', type: 'odd' }] } },
    ];
    expect((await apply(broken)).body.errors).toHaveLength(1);
  });

  it('deletes what the same mark was applied with before, and nothing else', async () => {
    await apply([{ definition: named('mine') }, { definition: named('old') }], { mark: 'm' });
    await apply([{ definition: named('other') }], { mark: 'n' });
    const { body } = await apply([{ definition: named('mine') }], { mark: 'm', prune: true });
    expect(body.workflows.map((it: JsonObject) => [it['name'], it['action']])).toEqual([
      ['mine', 'unchanged'],
      ['old', 'deleted'],
    ]);
    expect(await names()).toEqual(['mine', 'other']);
  });

  it('takes a mark of null for none', async () => {
    expect(await apply([{ definition: named('mine') }], { mark: null, prune: null })).toMatchObject({ status: 200 });
    expect(await store.listMarked(null as never)).toEqual([]);
  });

  it.each([
    [{ workflows: 'no' }, 'workflows'],
    [{ workflows: [{}] }, 'workflows[0].definition.name'],
    [{ workflows: [{ definition: named('a') }, { definition: named('a') }] }, 'workflows[1].definition.name'],
    [{ workflows: [{ definition: named('a'), revision: 7 }] }, 'workflows[0].revision'],
    [{ workflows: [], adopt: 'no' }, 'adopt'],
    [{ workflows: [], prune: true }, 'mark'],
    [{ workflows: [], mark: null, prune: true }, 'mark'],
    [{ workflows: [], mark: 'a b' }, 'mark'],
  ])('%j: 400 naming %s', async (payload, path) => {
    const answer = await app.inject({ method: 'POST', url: '/api/apply', payload });
    expect(answer.statusCode).toBe(400);
    expect(answer.json().errors.map((it: { path: string }) => it.path)).toContain(path);
  });
});
