import type { JsonObject } from '#libs/protocol';
import type { WorkflowDefinition } from '#libs/workflow-definition';
import { MemoryWorkflowStore } from '../testing/memory-workflow-store.js';
import {
  assertTenantHasRoom,
  findInlineRevision,
  findRevision,
  MOST_TENANT_BYTES,
  MOST_WORKFLOWS,
} from './workflow-store.js';

const inner = (body: JsonObject) => ({ id: 'tr', type: 'workflow', config: { body } });
const EDGES = { edges: [] };

async function saved(...nodes: WorkflowDefinition['nodes']) {
  const store = new MemoryWorkflowStore();
  const revision = await store.createWorkflow({ name: 'outer', language: 2, nodes, ...EDGES });
  if (!revision) throw new Error('Not saved');
  return { store, revision };
}

describe('a workflow that stands in a node', () => {
  it('is a revision named by its place, as old as the one around it', async () => {
    const body = { nodes: [{ id: 'a', type: 'agent' }] };
    const { revision } = await saved(inner(body));
    const found = findInlineRevision(revision, 'tr');
    expect(found).toMatchObject({
      revision: '1',
      updatedAt: revision.updatedAt,
      definition: { name: 'outer.tr', language: 2, nodes: [{ id: 'a', type: 'agent', config: {} }], edges: [] },
    });
    expect(findInlineRevision(revision, 'tr')).toBe(found);
    expect(findInlineRevision({ ...revision, revision: '2' }, 'tr')?.revision).toBe('2');
  });

  it('may speak a language of its own', async () => {
    const { revision } = await saved(inner({ language: 1, name: 'mine', nodes: [] }));
    expect(findInlineRevision(revision, 'tr')?.definition).toMatchObject({ name: 'outer.tr', language: 1 });
  });

  it('is found by its place, however deep', async () => {
    const { store } = await saved(inner({ nodes: [inner({ nodes: [{ id: 'deep', type: 'agent' }] })] }));
    expect((await findRevision(store, 'outer.tr.tr', '1'))?.definition).toMatchObject({
      name: 'outer.tr.tr',
      nodes: [{ id: 'deep' }],
    });
    expect((await findRevision(store, 'outer', '1'))?.definition.name).toBe('outer');
    for (const name of ['outer.no', 'outer.tr.no', 'no.tr']) expect(await findRevision(store, name)).toBeUndefined();
    expect(await findRevision(store, 'outer.tr', '7')).toBeUndefined();
  });

  it('is none where a node has none, or none that can be read', async () => {
    const { revision } = await saved(
      { id: 'named', type: 'workflow', config: { workflow: 'other' } },
      { id: 'agent', type: 'agent', config: { body: { nodes: [] } } },
      inner({ nodes: 'none' }),
    );
    for (const id of ['named', 'agent', 'tr', 'nobody']) expect(findInlineRevision(revision, id)).toBeUndefined();
  });
});

describe('refuseBeyondTenant', () => {
  it('refuses one workflow more than a tenant may have, and replaces any of them', () => {
    const held = { others: MOST_WORKFLOWS, otherBytes: 0 };
    expect(() => assertTenantHasRoom(10, { ...held, ownBytes: 0 })).toThrow(`at most ${MOST_WORKFLOWS} workflows`);
    expect(() => assertTenantHasRoom(10, { ...held, ownBytes: 5 })).not.toThrow();
  });

  it('refuses definitions that together are too large, and none that makes a workflow smaller', () => {
    const held = { others: 1, otherBytes: MOST_TENANT_BYTES };
    expect(() => assertTenantHasRoom(10, { ...held, ownBytes: 9 })).toThrow(`at most ${MOST_TENANT_BYTES} bytes`);
    expect(() => assertTenantHasRoom(10, { ...held, ownBytes: 10 })).not.toThrow();
    expect(() => assertTenantHasRoom(10, { others: 1, otherBytes: MOST_TENANT_BYTES - 10, ownBytes: 0 })).not.toThrow();
  });
});
