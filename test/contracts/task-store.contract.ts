import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { statusUpdate, userMessage } from '#libs/protocol';
import { type JournalEntry, type TaskClaim, type TaskEvent, type TaskHeader, type TaskStore } from '#libs/tasks';
import { ANY_CHARACTER } from '../support/any-character.js';
import { newDraft, REPLICA } from './task-draft.js';

/** What every TaskStore promises; `open` gives an empty one, `living` the id of one more replica that lives. */
export function describeTaskStore(name: string, open: () => TaskStore, living: () => Promise<string>): void {
  describe(`${name} keeps the promises of TaskStore:`, () => {
    let store: TaskStore;
    beforeAll(() => void (store = open()));
    const newToken = async (claim: TaskClaim) => (await store.renewClaims([claim])).renewed[0]!.token;

    describe('write', () => {
      it('makes a Task and gives it back as it was', async () => {
        const draft = newDraft({ metadata: { a: 1 } });
        expect(await store.writeBatch([draft.created(draft.status('TASK_STATE_WORKING', 'on it'))])).toEqual([
          'written',
        ]);
        const stored = await store.loadTask(draft.taskId);
        expect(stored?.task.status.state).toBe('TASK_STATE_WORKING');
        expect(stored?.task.history?.map((message) => message.parts[0]?.text)).toEqual(['hello', 'on it']);
        expect(stored?.task.metadata).toEqual({ a: 1 });
        expect(stored?.header).toMatchObject({ taskId: draft.taskId, lastSequence: 2, state: 'TASK_STATE_WORKING' });
      });

      it('keeps every text, also NUL, lone surrogates and quotes', async () => {
        const text = 'a\u0000b \ud800 "quoted" \\ {back,slash} 🙂';
        const draft = newDraft({ text });
        expect(await store.writeBatch([draft.created()])).toEqual(['written']);
        const [first] = await store.readEvents(draft.taskId, 0, 10);
        expect(first && 'task' in first.event && first.event.task.history?.[0]?.parts[0]?.text).toBe(text);
      });

      it('keeps batches of any number of Tasks with any texts', async () => {
        const texts = fc.array(fc.string({ unit: ANY_CHARACTER, maxLength: 300 }), { minLength: 1, maxLength: 20 });
        await fc.assert(
          fc.asyncProperty(fc.array(texts, { minLength: 1, maxLength: 20 }), async (tasks) => {
            const drafts = tasks.map(([text]) => newDraft({ text }));
            const entries = drafts.map((draft, index) =>
              draft.created(...tasks[index]!.slice(1).map((text) => draft.status('TASK_STATE_WORKING', text))),
            );
            expect(await store.writeBatch(entries)).toEqual(entries.map(() => 'written'));
            for (const [index, draft] of drafts.entries()) {
              const stored = await store.loadTask(draft.taskId);
              expect(stored?.task.history?.map((message) => message.parts[0]?.text)).toEqual(tasks[index]);
              expect(stored?.header.updatedAt).toEqual(draft.at);
            }
          }),
          { numRuns: 20 },
        );
      });

      it('makes one Task of those that come under one idempotency key, and only where it is the key of the same agent', async () => {
        const owner = `owner-${randomUUID()}`;
        const [first, second, elsewhere] = [
          newDraft({ owner }),
          newDraft({ owner }),
          newDraft({ owner, agent: 'workflows/other' }),
        ];
        const keyed = (draft: ReturnType<typeof newDraft>, fingerprint: string): JournalEntry => {
          const entry = draft.created();
          return { ...entry, create: { ...entry.create!, idempotency: { key: 'k', fingerprint } } };
        };
        const unkeyed = newDraft({ owner });
        const batch = [keyed(first, 'f1'), keyed(second, 'f2'), keyed(elsewhere, 'f3'), unkeyed.created()];
        expect(await store.writeBatch(batch)).toEqual(['written', 'fenced', 'written', 'written']);
        expect(await store.writeBatch([keyed(second, 'f2')])).toEqual(['fenced']);
        expect(await store.readEvents(second.taskId, 0, 10)).toEqual([]);
        const scope = { tenant: '', owner };
        expect(await store.findKeyedRequest(scope, 'workflows/w', 'k')).toEqual({
          taskId: first.taskId,
          fingerprint: 'f1',
          sequence: 1,
        });
        expect(await store.findKeyedRequest(scope, 'workflows/w', 'other')).toBeUndefined();
        expect(await store.findKeyedRequest({ tenant: '', owner: 'stranger' }, 'workflows/w', 'k')).toBeUndefined();
      });

      it('takes one follow-up in of those that come under one key, and keeps no key of one that is fenced', async () => {
        const owner = `owner-${randomUUID()}`;
        const [one, other, unkeyed] = [newDraft({ owner }), newDraft({ owner }), newDraft({ owner })];
        const drafts = [one, other, unkeyed];
        await store.writeBatch(drafts.map((draft) => draft.created(draft.status('TASK_STATE_INPUT_REQUIRED', '?'))));
        const token = randomUUID();
        for (const draft of drafts) await store.claimTask(draft.taskId, REPLICA, token);
        const { header } = (await store.loadTask(one.taskId))!;
        const keyed = (draft: typeof one, key: string, fingerprint: string, claim = token): JournalEntry => ({
          ...draft.continued(claim, 2, draft.status('TASK_STATE_WORKING')),
          keyed: { header: { ...header, taskId: draft.taskId }, idempotency: { key, fingerprint } },
        });
        const scope = { tenant: '', owner };
        expect(await store.writeBatch([keyed(one, 'k', 'f1', randomUUID())])).toEqual(['fenced']);
        expect(await store.findKeyedRequest(scope, 'workflows/w', 'k')).toBeUndefined();
        const mixed = [keyed(one, 'k', 'f1'), keyed(other, 'k', 'f2')];
        const plain = unkeyed.continued(token, 2, unkeyed.status('TASK_STATE_WORKING'));
        expect(await store.writeBatch([...mixed, plain])).toEqual(['written', 'fenced', 'written']);
        expect(await store.writeBatch([keyed(other, 'k', 'f2')])).toEqual(['fenced']);
        expect(await store.findKeyedRequest(scope, 'workflows/w', 'k')).toEqual({
          taskId: one.taskId,
          fingerprint: 'f1',
          sequence: 3,
        });
        expect((await store.readHeader(other.taskId))?.lastSequence).toBe(2);
        expect(await store.writeBatch([keyed(other, 'l', 'f2')])).toEqual(['written']);
      });

      it('keeps a received Message beside the status that answers it', async () => {
        const draft = newDraft();
        await store.writeBatch([draft.created(draft.status('TASK_STATE_INPUT_REQUIRED', '?'))]);
        const token = randomUUID();
        await store.claimTask(draft.taskId, REPLICA, token);
        const answer = userMessage('answer', { messageId: 'm2' });
        const event: TaskEvent = { ...statusUpdate(draft, 'TASK_STATE_WORKING'), received: answer };
        expect(await store.writeBatch([draft.continued(token, 2, event)])).toEqual(['written']);
        const events = await store.readEvents(draft.taskId, 2, 10);
        expect(events[0]?.event).toMatchObject({ received: answer });
        expect(JSON.parse(events[0]?.json ?? '{}')).not.toHaveProperty('received');
        expect((await store.loadTask(draft.taskId))?.task.history?.at(-1)?.messageId).toBe('m2');
      });

      it('fences a writer that lost its claim, and nobody else in the batch', async () => {
        const [lost, kept] = [newDraft(), newDraft()];
        await store.writeBatch([lost.created(), kept.created()]);
        const outcomes = await store.writeBatch([
          lost.continued('another token', 1, lost.status('TASK_STATE_WORKING')),
          kept.continued(kept.token, 1, kept.status('TASK_STATE_WORKING')),
        ]);
        expect(outcomes).toEqual(['fenced', 'written']);
        expect(await store.readEvents(lost.taskId, 0, 10)).toHaveLength(1);
        expect(await store.readEvents(kept.taskId, 0, 10)).toHaveLength(2);
      });

      it('fences a writer that is behind or ahead of the log', async () => {
        const draft = newDraft();
        await store.writeBatch([draft.created(draft.status('TASK_STATE_WORKING'))]);
        expect(await store.writeBatch([draft.continued(draft.token, 1, draft.status('TASK_STATE_WORKING'))])).toEqual([
          'fenced',
        ]);
        expect(await store.writeBatch([draft.continued(draft.token, 5, draft.status('TASK_STATE_WORKING'))])).toEqual([
          'fenced',
        ]);
        expect(await store.readEvents(draft.taskId, 0, 10)).toHaveLength(2);
      });

      it('fences the second creation of one id', async () => {
        const draft = newDraft();
        expect(await store.writeBatch([draft.created()])).toEqual(['written']);
        expect(await store.writeBatch([draft.created()])).toEqual(['fenced']);
        expect(await store.readEvents(draft.taskId, 0, 10)).toHaveLength(1);
      });

      it('never writes an ended Task again, not even for its last writer', async () => {
        const draft = newDraft();
        await store.writeBatch([draft.created()]);
        await store.writeBatch([draft.continued(draft.token, 1, draft.status('TASK_STATE_CANCELED'))]);
        const late = draft.continued(draft.token, 2, draft.status('TASK_STATE_COMPLETED'));
        expect(await store.writeBatch([late])).toEqual(['fenced']);
        expect((await store.readHeader(draft.taskId))?.state).toBe('TASK_STATE_CANCELED');
      });

      it('makes no child for a process that has lost the parent, in whatever batch', async () => {
        const [parent, another] = [newDraft(), await living()];
        await store.writeBatch([parent.created(parent.status('TASK_STATE_WORKING'))]);
        const child = (replicaId: string) =>
          newDraft({ parentTaskId: parent.taskId, parentReference: 'n#1', replicaId }).created();
        const going = parent.continued(parent.token, 2, parent.status('TASK_STATE_WORKING'));
        expect(await store.writeBatch([child(REPLICA), going])).toEqual(['written', 'written']);
        expect(await store.writeBatch([child(another)])).toEqual(['fenced']);
        await store.adoptTasks(another, [REPLICA], 1_000);
        expect(await store.writeBatch([child(REPLICA)])).toEqual(['fenced']);
        expect(await store.writeBatch([child(REPLICA), newDraft().created()])).toEqual(['fenced', 'written']);
        expect(await store.writeBatch([child(another)])).toEqual(['written']);
        expect(await store.listChildren(parent.taskId)).toHaveLength(2);
        const under = (parentToken: string) => newDraft({ parentTaskId: parent.taskId, parentToken }).created();
        const claim = (await store.listClaims(another)).find(({ taskId }) => taskId === parent.taskId)!;
        expect(await store.writeBatch([under(claim.token), under(parent.token)])).toEqual(['written', 'fenced']);
        const anew = under(await newToken(claim));
        expect(await store.writeBatch([under(claim.token), anew])).toEqual(['fenced', 'written']);
      });

      it('makes a child together with its parent, and none of a parent that has ended', async () => {
        const parent = newDraft();
        const child = () => newDraft({ parentTaskId: parent.taskId, parentReference: 'n#1' }).created();
        expect(await store.writeBatch([child(), parent.created(parent.status('TASK_STATE_WORKING'))])).toEqual([
          'written',
          'written',
        ]);
        const end = parent.continued(parent.token, 2, parent.status('TASK_STATE_COMPLETED'));
        expect(await store.writeBatch([child(), end])).toEqual(['written', 'written']);
        expect(await store.writeBatch([child()])).toEqual(['fenced']);
      });

      it('lets one of many racing writers win', async () => {
        const draft = newDraft();
        await store.writeBatch([draft.created()]);
        const races = Array.from({ length: 8 }, (_, index) =>
          store.writeBatch([draft.continued(draft.token, 1, draft.status('TASK_STATE_WORKING', `writer ${index}`))]),
        );
        const outcomes = (await Promise.all(races)).flat();
        expect(outcomes.filter((outcome) => outcome === 'written')).toHaveLength(1);
        expect((await store.readEvents(draft.taskId, 0, 10)).map((event) => event.sequence)).toEqual([1, 2]);
      });
    });

    describe('events', () => {
      it('gives what follows a sequence, in order, at most so many', async () => {
        const draft = newDraft();
        const updates = Array.from({ length: 9 }, (_, index) => draft.status('TASK_STATE_WORKING', String(index)));
        await store.writeBatch([draft.created(...updates)]);
        expect((await store.readEvents(draft.taskId, 3, 4)).map((event) => event.sequence)).toEqual([4, 5, 6, 7]);
        expect(await store.readEvents(draft.taskId, 10, 4)).toEqual([]);
        expect(await store.readEvents('no-such-task', 0, 4)).toEqual([]);
      });
    });

    describe('scope', () => {
      it('shows a Task to its owner alone', async () => {
        const draft = newDraft({ owner: 'alice' });
        await store.writeBatch([draft.created()]);
        expect(await store.loadTask(draft.taskId, { tenant: '', owner: 'alice' })).toBeDefined();
        expect(await store.loadTask(draft.taskId, { tenant: '', owner: 'bob' })).toBeUndefined();
        expect(await store.readHeader(draft.taskId, { tenant: 'x', owner: 'alice' })).toBeUndefined();
        expect(await store.readHeader(draft.taskId)).toBeDefined();
      });
    });

    describe('claim', () => {
      it('is given to one replica, while nobody executes the Task', async () => {
        const draft = newDraft();
        await store.writeBatch([draft.created()]);
        expect(await store.claimTask(draft.taskId, 'other', 't')).toBeUndefined();
        await store.writeBatch([draft.continued(draft.token, 1, draft.status('TASK_STATE_INPUT_REQUIRED'))]);
        const claims = await Promise.all(
          Array.from({ length: 8 }, () => store.claimTask(draft.taskId, 'other', randomUUID())),
        );
        const won = claims.filter((claim) => claim !== undefined);
        expect(won).toHaveLength(1);
        expect(won[0]?.task.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
      });

      it('is not given for an ended or unknown Task', async () => {
        const draft = newDraft();
        await store.writeBatch([draft.created(draft.status('TASK_STATE_COMPLETED'))]);
        expect(await store.claimTask(draft.taskId, REPLICA, 't')).toBeUndefined();
        expect(await store.claimTask('no-such-task', REPLICA, 't')).toBeUndefined();
      });

      it('is given back by release, if it is still the same claim', async () => {
        const draft = newDraft();
        await store.writeBatch([draft.created(draft.status('TASK_STATE_INPUT_REQUIRED'))]);
        await store.claimTask(draft.taskId, REPLICA, 'mine');
        await store.releaseClaim({ taskId: draft.taskId, token: 'not mine' });
        expect(await store.claimTask(draft.taskId, REPLICA, 'again')).toBeUndefined();
        await store.releaseClaim({ taskId: draft.taskId, token: 'mine' });
        expect(await store.claimTask(draft.taskId, REPLICA, 'again')).toBeDefined();
      });
    });

    describe('claims and renew', () => {
      it('show what a replica claims, and fence what was begun with the token before', async () => {
        const replicaId = `claims-${randomUUID()}`;
        const [draft, waiting] = [newDraft({ replicaId }), newDraft({ replicaId })];
        await store.writeBatch([draft.created(), waiting.created(waiting.status('TASK_STATE_INPUT_REQUIRED'))]);
        const { taskId, token } = draft;
        expect(await store.listClaims(replicaId)).toEqual([{ taskId, token }]);
        expect(await store.renewClaims([{ taskId, token: 'not mine' }])).toEqual({ renewed: [], lost: [taskId] });
        const anew = await newToken({ taskId, token });
        expect(await store.listClaims(replicaId)).toEqual([{ taskId, token: anew }]);
        const going = draft.status('TASK_STATE_WORKING');
        expect(await store.writeBatch([draft.continued(token, 1, going)])).toEqual(['fenced']);
        expect(await store.writeBatch([draft.continued(anew, 1, going)])).toEqual(['written']);
        await store.writeBatch([draft.continued(anew, 2, draft.status('TASK_STATE_INPUT_REQUIRED'))]);
        expect(await store.renewClaims([{ taskId, token: anew }])).toEqual({ renewed: [], lost: [taskId] });
        expect(await store.listClaims(replicaId)).toEqual([]);
      });
    });

    describe('holds', () => {
      it('knows a claim until it is given back, renewed or adopted', async () => {
        const replicaId = `holds-${randomUUID()}`;
        const [draft, other] = [newDraft({ replicaId }), newDraft({ replicaId })];
        await store.writeBatch([draft.created(), other.created()]);
        const { taskId, token } = draft;
        expect(await store.isClaimHeld({ taskId, token })).toBe(true);
        expect(await store.isClaimHeld({ taskId, token: other.token })).toBe(false);
        expect(await store.isClaimHeld({ taskId: randomUUID(), token })).toBe(false);
        const anew = await newToken({ taskId, token });
        expect(await store.isClaimHeld({ taskId, token })).toBe(false);
        expect(await store.isClaimHeld({ taskId, token: anew })).toBe(true);
        await store.adoptTasks(await living(), [replicaId], 10);
        expect(await store.isClaimHeld({ taskId, token: anew })).toBe(false);
        expect(await store.isClaimHeld(other)).toBe(false);
      });
    });

    describe('adopt', () => {
      it('gives each orphan to one adopter, with a token that fences the old writer', async () => {
        const dead = `dead-${randomUUID()}`;
        const drafts = Array.from({ length: 12 }, () => newDraft({ replicaId: dead }));
        await store.writeBatch(drafts.map((draft) => draft.created()));
        expect(await store.listClaimants()).toContain(dead);
        const replicas = [await living(), await living(), await living()];
        const adopters = replicas.map((replica) => store.adoptTasks(replica, [dead], 100));
        const claims = (await Promise.all(adopters)).flat();
        expect(claims.map((claim) => claim.taskId).sort()).toEqual(drafts.map((draft) => draft.taskId).sort());
        expect(await store.listClaimants()).not.toContain(dead);
        const [first] = drafts;
        const late = first!.continued(first!.token, 1, first!.status('TASK_STATE_COMPLETED'));
        expect(await store.writeBatch([late])).toEqual(['fenced']);
        const token = claims.find((claim) => claim.taskId === first!.taskId)!.token;
        expect(await store.writeBatch([first!.continued(token, 1, first!.status('TASK_STATE_COMPLETED'))])).toEqual([
          'written',
        ]);
      });

      it('leaves the Tasks of living replicas, waiting Tasks and ended Tasks alone', async () => {
        const dead = `dead-${randomUUID()}`;
        const waiting = newDraft({ replicaId: dead });
        const ended = newDraft({ replicaId: dead });
        await store.writeBatch([
          waiting.created(waiting.status('TASK_STATE_INPUT_REQUIRED')),
          ended.created(ended.status('TASK_STATE_COMPLETED')),
        ]);
        const [adopter, alive] = [await living(), await living()];
        await store.writeBatch([newDraft({ replicaId: alive }).created()]);
        for (const from of [[dead], [], [alive]]) expect(await store.adoptTasks(adopter, from, 100)).toEqual([]);
        expect(await store.listClaims(alive)).toHaveLength(1);
      });
    });

    describe('cancel requests', () => {
      it('are for the replica that executes the Task, also for the one that adopts it', async () => {
        const [first, second] = [`first-${randomUUID()}`, await living()];
        const [draft, other, ended] = [first, first, first].map((replicaId) => newDraft({ replicaId }));
        await store.writeBatch([
          draft!.created(),
          other!.created(),
          ended!.created(ended!.status('TASK_STATE_COMPLETED')),
        ]);
        await store.requestCancel(draft!.taskId);
        await store.requestCancel(draft!.taskId);
        await store.requestCancel(ended!.taskId);
        expect(await store.cancelRequests(first)).toEqual([draft!.taskId]);
        await store.adoptTasks(second, [first], 10);
        expect(await store.cancelRequests(first)).toEqual([]);
        expect(await store.cancelRequests(second)).toEqual([draft!.taskId]);
      });
    });

    describe('list', () => {
      it('pages through what matches, newest status first, without a gap or a repeat', async () => {
        const owner = `owner-${randomUUID()}`;
        const drafts = Array.from({ length: 25 }, (_, index) => newDraft({ owner, at: new Date(1e12 + (index % 5)) }));
        await store.writeBatch(drafts.map((draft) => draft.created()));
        const seen: TaskHeader[] = [];
        for (;;) {
          const last = seen.at(-1);
          const before = last && { updatedAt: last.updatedAt, taskId: last.taskId };
          const tasks = await store.findTasks({ scope: { tenant: '', owner }, limit: 10, ...(before && { before }) });
          seen.push(...tasks.map((stored) => stored.header));
          if (tasks.length < 10) break;
        }
        expect(new Set(seen.map((header) => header.taskId)).size).toBe(25);
        const times = seen.map((header) => header.updatedAt.getTime());
        expect(times).toEqual([...times].sort((a, b) => b - a));
      });

      it('filters by agent, context, state and time', async () => {
        const owner = `owner-${randomUUID()}`;
        const scope = { tenant: '', owner };
        const one = newDraft({ owner, agent: 'workflows/w', at: new Date(1e12) });
        const two = newDraft({ owner, agent: 'workflows/w/nodes/n', at: new Date(1e12 + 1000) });
        await store.writeBatch([one.created(), two.created(two.status('TASK_STATE_COMPLETED'))]);
        const ids = async (filter: object): Promise<string[]> => {
          const found = (await store.findTasks({ scope, limit: 10, ...filter })).map(({ header }) => header.taskId);
          expect(await store.countTasks({ scope, ...filter })).toBe(found.length);
          return found;
        };
        expect(await ids({})).toEqual([two.taskId, one.taskId]);
        expect(await ids({ agent: 'workflows/w' })).toEqual([one.taskId]);
        expect(await ids({ agent: 'workflows/*' })).toEqual([one.taskId]);
        expect(await ids({ agent: 'workflows/w/nodes/*' })).toEqual([two.taskId]);
        expect(await ids({ contextId: two.contextId })).toEqual([two.taskId]);
        expect(await ids({ state: 'TASK_STATE_COMPLETED' })).toEqual([two.taskId]);
        expect(await ids({ states: ['TASK_STATE_COMPLETED', 'TASK_STATE_FAILED'] })).toEqual([two.taskId]);
        expect(await ids({ updatedAfter: new Date(1e12 + 500) })).toEqual([two.taskId]);
        expect(await ids({ updatedBefore: new Date(1e12 + 500) })).toEqual([one.taskId]);
      });
    });

    describe('children and lastSequences', () => {
      it('finds the Tasks that a parent called for, several at once, and how far logs reach', async () => {
        const parent = newDraft();
        const child = newDraft({ parentTaskId: parent.taskId, parentReference: 'n#1' });
        await store.writeBatch([parent.created(), child.created(child.status('TASK_STATE_WORKING'))]);
        expect(await store.listChildren(parent.taskId)).toMatchObject([
          { taskId: child.taskId, parentReference: 'n#1' },
        ]);
        expect(await store.listChildren(child.taskId)).toEqual([]);
        const headers = await store.readHeaders([parent.taskId, child.taskId, 'no-such-task']);
        expect([...headers.keys()].sort()).toEqual([parent.taskId, child.taskId].sort());
        expect(headers.get(child.taskId)).toEqual(await store.readHeader(child.taskId));
        const reached = await store.lastSequences([parent.taskId, child.taskId, 'no-such-task']);
        expect(Object.fromEntries(reached)).toEqual({ [parent.taskId]: 1, [child.taskId]: 2 });
      });
    });
  });
}
