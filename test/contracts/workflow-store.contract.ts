import { randomBytes } from 'node:crypto';
import type { WorkflowDefinition } from '#libs/workflow-definition';
import type { WorkflowStore } from '#libs/workflows';

/** What every WorkflowStore promises; `open` gives one, which may hold workflows of other tests. */
export function describeWorkflowStore(name: string, open: () => WorkflowStore): void {
  describe(`${name} keeps the promises of WorkflowStore:`, () => {
    let store: WorkflowStore;
    beforeAll(() => {
      store = open();
    });

    it('gives a workflow back as it was saved, with its revision and times', async () => {
      const definition: WorkflowDefinition = {
        ...workflow('a', 'b'),
        description: 'what it does',
        edges: [{ from: 'a', to: 'b' }],
        onFailure: 'continue',
      };
      const before = Date.now();
      const created = await store.createWorkflow(definition);
      const found = await store.get(definition.name);
      expect(found).toEqual(created);
      expect(found?.definition).toEqual(definition);
      expect(found?.revision).toMatch(/^\d+$/);
      expect(found?.createdAt).toEqual(found?.updatedAt);
      expect(found?.createdAt.getTime()).toBeGreaterThanOrEqual(before - 1000);
    });

    it('tells of workflows without their definitions: what the card, the directory and callers need', async () => {
      const first = unique();
      const second = `${first}2`;
      const inner = { nodes: [{ id: 'deep', type: 'agent', config: { description: 'digs\u0000' } }] };
      await store.createWorkflow({
        name: first,
        description: 'does\u0000 it',
        nodes: [
          { id: 'topic', type: 'input', config: { schema: { type: 'string' } } },
          { id: 'in', type: 'workflow', config: { body: inner } },
          { id: 'out', type: 'output', config: {} },
        ],
        edges: [],
      });
      await store.createWorkflow({ ...workflow('a'), name: second });
      const published = (await store.listPublished()).filter(({ name }) => name.startsWith(first));
      expect(published).toEqual([
        { name: first, revision: '1', updatedAt: expect.any(Date), description: 'does\u0000 it' },
        { name: second, revision: '1', updatedAt: expect.any(Date) },
      ]);
      const interfaces = await store.listInterfaces();
      expect(interfaces.get(first)).toMatchObject({ artifacts: ['out'], example: '{"topic":"text"}' });
      expect(interfaces.get(first)?.input).toMatchObject({ properties: { topic: { type: 'string' } } });
      const [listed, next] = await store.listWithNodes(2, { name: first, inclusive: true });
      expect(listed?.nodes).toEqual([
        { id: 'in', type: 'workflow' },
        { id: 'in.deep', type: 'agent', description: 'digs\u0000' },
        { id: 'out', type: 'output' },
        { id: 'topic', type: 'input' },
      ]);
      expect(next?.name).toBe(second);
      expect((await store.listWithNodes(1, { name: first, inclusive: false }))[0]?.name).toBe(second);
      await store.replaceWorkflow({ ...workflow('b'), name: second, description: 'another' });
      expect((await store.listPublished()).find(({ name }) => name === second)).toMatchObject({
        description: 'another',
      });
      await store.delete(first);
      expect((await store.listInterfaces()).has(first)).toBe(false);
    });

    it('gives pages of definitions as texts, as far as their bytes fit, and asks for room before it reads them', async () => {
      const first = unique();
      const definitions = ['', '2', '3'].map((end) => ({ ...workflow('a'), name: `${first}${end}` }));
      for (const definition of definitions) await store.createWorkflow(definition);
      const [one = '', two = '', three = ''] = definitions.map((it) => JSON.stringify(it));
      const admitted: number[] = [];
      const admit = async (bytes: number): Promise<void> => void admitted.push(bytes);
      const before = first.slice(0, -1);
      const page = await store.listTexts({ limit: 2, most: 1_000_000, afterName: before, admit });
      expect([page.workflows.map(({ definition }) => definition), page.more]).toEqual([[one, two], true]);
      const small = await store.listTexts({ limit: 5, most: one.length, afterName: before, admit });
      expect([small.workflows.map(({ definition }) => definition), small.more]).toEqual([[one], true]);
      const last = await store.listTexts({ limit: 1, most: 1, afterName: `${first}2`, admit });
      expect(last.workflows.map(({ definition }) => definition)).toEqual([three]);
      expect(admitted).toEqual([one.length + two.length, one.length, three.length]);
    });

    it('keeps every text and every key, also NUL, lone surrogates and the names of built-ins', async () => {
      const config = JSON.parse(
        '{"prompt":"a\\u0000b \\ud800 \\"quoted\\" 🙂","constructor":1,"__proto__":{"x":1},"big":1e300}',
      ) as WorkflowDefinition['nodes'][number]['config'];
      const definition = { ...workflow('a'), nodes: [{ id: 'a', type: 'agent', config }] };
      await store.createWorkflow(definition);
      const found = await store.get(definition.name);
      expect(JSON.stringify(found?.definition)).toBe(JSON.stringify(definition));
    });

    it('refuses to create what there is', async () => {
      const definition = workflow('a');
      await store.createWorkflow(definition);
      expect(await store.createWorkflow({ ...definition, description: 'another' })).toBeUndefined();
      expect((await store.get(definition.name))?.definition.description).toBeUndefined();
    });

    it('replaces with a greater revision and keeps the older ones readable', async () => {
      const definition = workflow('a');
      const first = await store.createWorkflow(definition);
      const second = await store.replaceWorkflow({ ...definition, description: 'second' });
      expect(Number(second?.revision)).toBeGreaterThan(Number(first?.revision));
      expect(second?.createdAt).toEqual(first?.createdAt);
      expect((await store.get(definition.name))?.revision).toBe(second?.revision);
      expect((await store.get(definition.name, first?.revision))?.definition).toEqual(definition);
      expect((await store.get(definition.name, second?.revision))?.definition.description).toBe('second');
    });

    it('does not replace what there is not', async () => {
      expect(await store.replaceWorkflow(workflow('a'))).toBeUndefined();
      const deleted = workflow('a');
      await store.createWorkflow(deleted);
      await store.delete(deleted.name);
      expect(await store.replaceWorkflow(deleted)).toBeUndefined();
    });

    it('replaces and deletes only the revisions that are expected, whoever else saves at the same moment', async () => {
      const definition = workflow('a');
      const { revision = '' } = (await store.createWorkflow(definition)) ?? {};
      const saves = await Promise.all(
        ['b', 'c', 'd'].map((description) => store.replaceWorkflow({ ...definition, description }, [revision])),
      );
      expect(saves.filter(Boolean)).toHaveLength(1);
      expect(await store.replaceWorkflow(definition, [])).toBeUndefined();
      expect(await store.delete(definition.name, [revision])).toBe(false);
      const newest = (await store.get(definition.name))?.revision ?? '';
      expect(await store.delete(definition.name, ['x', newest])).toBe(true);
    });

    it('tells what was saved, the newest first, in pages', async () => {
      const definition = workflow('a');
      await store.createWorkflow(definition);
      await store.replaceWorkflow(definition);
      const { revision: newest } = (await store.replaceWorkflow(definition)) ?? {};
      const [last, middle, ...none] = await store.listSaves(definition.name, 2);
      expect([last?.revision, none]).toEqual([newest, []]);
      const rest = await store.listSaves(definition.name, 2, middle?.revision);
      expect(rest).toMatchObject([{ revision: expect.any(String), savedAt: expect.any(Date) }]);
      expect(await store.listSaves(unique(), 2)).toEqual([]);
      expect(await store.listSaves('a\u0000b', 2, 'x')).toEqual([]);
    });

    it('deletes once, and keeps the revisions for their runs', async () => {
      const definition = workflow('a');
      const created = await store.createWorkflow(definition);
      expect(await store.delete(definition.name)).toBe(true);
      expect(await store.delete(definition.name)).toBe(false);
      expect(await store.get(definition.name)).toBeUndefined();
      expect((await store.get(definition.name, created?.revision))?.definition).toEqual(definition);
    });

    it('continues the revisions of a name that is used again', async () => {
      const definition = workflow('a');
      const first = await store.createWorkflow(definition);
      await store.delete(definition.name);
      const again = await store.createWorkflow({ ...definition, description: 'again' });
      expect(Number(again?.revision)).toBeGreaterThan(Number(first?.revision));
      expect((await store.get(definition.name))?.definition.description).toBe('again');
      expect((await store.get(definition.name, first?.revision))?.definition).toEqual(definition);
    });

    it('keeps with each save who made it, what it restores, and when its workflow was created', async () => {
      const definition = workflow('a');
      const first = await store.createWorkflow(definition, { author: 'ann' });
      await store.replaceWorkflow(definition, undefined, { author: 'eve', restoredFrom: '1' });
      await store.delete(definition.name);
      const again = await store.createWorkflow(definition);
      expect(await store.listSaves(definition.name, 5)).toEqual([
        { revision: '3', savedAt: expect.any(Date), createdAt: again?.createdAt },
        {
          revision: '2',
          savedAt: expect.any(Date),
          createdAt: first?.createdAt,
          author: 'eve',
          restoredFrom: '1',
        },
        { revision: '1', savedAt: first?.updatedAt, createdAt: first?.createdAt, author: 'ann' },
      ]);
      expect((await store.get(definition.name, '2'))?.createdAt).toEqual(first?.createdAt);
    });

    it('knows neither an unknown name nor an unknown revision', async () => {
      const definition = workflow('a');
      await store.createWorkflow(definition);
      expect(await store.get(unique())).toBeUndefined();
      expect(await store.get(definition.name, '99')).toBeUndefined();
      expect(await store.get(definition.name, 'x')).toBeUndefined();
      expect(await store.get('a\u0000b')).toBeUndefined();
      expect(await store.delete('a\u0000b')).toBe(false);
      expect(await store.withNode('a\u0000b', 5)).toEqual([]);
    });

    it('lists by name, in pages, without the deleted ones', async () => {
      const prefix = unique();
      const names = ['C', 'a', '_b', 'B', 'd'].map((it) => `${prefix}${it}`);
      for (const it of names) await store.createWorkflow({ ...workflow('a'), name: it });
      await store.delete(`${prefix}d`);
      const listed: string[] = [];
      for (let after = prefix; ;) {
        const page = await store.listRevisions(2, after);
        listed.push(...page.map((it) => it.definition.name));
        if (page.length < 2) break;
        after = listed.at(-1) ?? '';
      }
      expect(listed.filter((it) => it.startsWith(prefix))).toEqual(['B', 'C', '_b', 'a'].map((it) => `${prefix}${it}`));
    });

    it('finds the workflows that have a node now, by name', async () => {
      const node = unique();
      const one = { ...workflow(node, 'x'), name: `${node}_1` };
      const two = { ...workflow(node), name: `${node}_2` };
      const three = { ...workflow(node), name: `${node}_3` };
      for (const it of [three, two, one]) await store.createWorkflow(it);
      expect(namesOf(await store.withNode(node, 10))).toEqual([one.name, two.name, three.name]);
      expect(namesOf(await store.withNode(node, 2))).toEqual([one.name, two.name]);
      await store.replaceWorkflow({ ...one, nodes: workflow('x').nodes });
      await store.delete(two.name);
      expect(namesOf(await store.withNode(node, 10))).toEqual([three.name]);
      await store.createWorkflow(two);
      expect(namesOf(await store.withNode(node, 10))).toEqual([two.name, three.name]);
    });

    it('has another version after every change, and the same one otherwise', async () => {
      const definition = workflow('a');
      const versions = [await store.currentVersion()];
      for (const change of [
        () => store.createWorkflow(definition),
        () => store.replaceWorkflow(definition),
        () => store.delete(definition.name),
      ]) {
        await change();
        versions.push(await store.currentVersion());
        await store.get(definition.name);
        await store.replaceWorkflow(workflow('a'));
        await store.delete(unique());
        expect(await store.currentVersion()).toBe(versions.at(-1));
      }
      await store.createWorkflow(definition);
      versions.push(await store.currentVersion());
      await store.createWorkflow(definition);
      expect(await store.currentVersion()).toBe(versions.at(-1));
      expect(new Set(versions).size).toBe(5);
    });

    it('lets one of many creations win', async () => {
      const definition = workflow('a');
      const outcomes = await Promise.all(
        Array.from({ length: 10 }, (_, index) => store.createWorkflow({ ...definition, description: String(index) })),
      );
      const won = outcomes.filter((it) => it !== undefined);
      expect(won).toHaveLength(1);
      expect(await store.get(definition.name)).toEqual(won[0]);
    });

    it('gives every one of many replacements a revision of its own, and indexes the nodes of the last', async () => {
      const definition = workflow('a');
      await store.createWorkflow(definition);
      const nodes = Array.from({ length: 10 }, () => unique());
      const saved = await Promise.all(
        nodes.map((id) => store.replaceWorkflow({ ...definition, nodes: workflow(id).nodes })),
      );
      expect(new Set(saved.map((it) => it?.revision)).size).toBe(10);
      const last = (await store.get(definition.name))?.definition.nodes[0]?.id;
      for (const id of nodes) expect(await store.withNode(id, 10)).toHaveLength(id === last ? 1 : 0);
    });

    it('keeps the workflows of tenants apart', async () => {
      const definition = workflow('a');
      const [one, two] = [store.inTenant(unique()), store.inTenant(unique())];
      await one.createWorkflow(definition);
      const versions = [await store.currentVersion(), await two.currentVersion()];
      const changed = await one.replaceWorkflow({ ...definition, description: 'changed' });
      expect(await two.createWorkflow({ ...definition, description: 'another' })).toBeDefined();
      expect((await one.get(definition.name))?.definition.description).toBe('changed');
      expect((await two.get(definition.name))?.definition.description).toBe('another');
      expect(await store.get(definition.name)).toBeUndefined();
      expect(await store.get(definition.name, changed?.revision)).toBeUndefined();
      expect(namesOf(await one.listRevisions(10))).toEqual([definition.name]);
      expect(namesOf(await two.withNode('a', 10))).toEqual([definition.name]);
      expect(await store.delete(definition.name)).toBe(false);
      expect(await store.currentVersion()).toBe(versions[0]);
      expect(await two.currentVersion()).not.toBe(versions[1]);
    });

    it('makes several changes all at once, or none of them where one throws', async () => {
      const [kept, made, left] = [workflow('a'), workflow('a'), workflow('a')];
      const first = await store.createWorkflow(kept);
      const changed = { ...kept, description: 'changed' };
      await expect(
        store.runAtomically([kept.name, left.name], async (inside) => {
          expect((await inside.replaceWorkflow(changed))?.revision).not.toBe(first?.revision);
          expect((await inside.get(kept.name))?.definition.description).toBe('changed');
          await inside.createWorkflow(left);
          throw new Error('no');
        }),
      ).rejects.toThrow('no');
      expect((await store.get(kept.name))?.revision).toBe(first?.revision);
      expect(await store.get(left.name)).toBeUndefined();
      const saved = await store.runAtomically([kept.name, made.name], async (inside) => [
        await inside.createWorkflow(made),
        await inside.replaceWorkflow(changed, [first?.revision ?? '']),
      ]);
      expect(saved.map((it) => it?.definition.name)).toEqual([made.name, kept.name]);
      expect((await store.get(kept.name))?.definition.description).toBe('changed');
    });

    it('knows which workflows were saved under a mark', async () => {
      const [one, two] = [workflow('a'), workflow('a')];
      const [mark, other] = [unique(), unique()];
      for (const definition of [one, two]) {
        await store.createWorkflow(definition);
        await store.markWorkflow(definition.name, mark);
      }
      expect(await store.listMarked(mark)).toEqual([one.name, two.name].toSorted());
      await store.markWorkflow(one.name, other);
      await store.delete(two.name);
      expect([await store.listMarked(mark), await store.listMarked(other)]).toEqual([[], [one.name]]);
      expect(await store.inTenant(unique()).listMarked(other)).toEqual([]);
    });

    it('shares nothing with what was given to it', async () => {
      const definition = workflow('a');
      await store.createWorkflow(definition);
      definition.nodes.push({ id: 'later', type: 'agent', config: {} });
      expect((await store.get(definition.name))?.definition.nodes).toHaveLength(1);
    });
  });
}

function workflow(...nodeIds: string[]): WorkflowDefinition {
  return { name: unique(), nodes: nodeIds.map((id) => ({ id, type: 'agent', config: {} })), edges: [] };
}

function unique(): string {
  return `w${randomBytes(6).toString('hex')}`;
}

function namesOf(found: { definition: WorkflowDefinition }[]): string[] {
  return found.map((it) => it.definition.name);
}
