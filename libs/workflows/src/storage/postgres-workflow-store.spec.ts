import type { RevisionPrecondition } from '#libs/tasks';
import type { WorkflowRevision } from '#libs/workflow-definition';
import { RevisionCache } from './postgres-workflow-store.js';

const revision = (name: string): WorkflowRevision => ({
  definition: { name, nodes: [{ id: 'a', type: 'agent', config: {} }], edges: [] },
  revision: '1',
  createdAt: new Date(0),
  updatedAt: new Date(0),
});
const key = (tenant: string, name = 'w') => ({ tenant, name, revision: '1' });
const KIB = 1024;

describe('RevisionCache', () => {
  it('weighs the revisions of all tenants together, and evicts the least recently used', () => {
    const cache = new RevisionCache(1_000 * KIB);
    for (let tenant = 0; tenant < 200; tenant += 1) {
      cache.keepRevision(key(`t${tenant}`), revision('w'), { version: 'v', bytes: 50 * KIB });
      expect(cache.get(key('t0'))).toBeDefined();
      expect(cache.weight).toBeLessThanOrEqual(1_000 * KIB);
    }
    expect(cache.get(key('t199'))).toBeDefined();
    expect(cache.get(key('t1'))).toBeUndefined();
  });

  it('does not keep a revision that alone outweighs the room', () => {
    const cache = new RevisionCache(100 * KIB);
    cache.keepRevision(key(''), revision('w'), { version: 'v', bytes: 4_000 * KIB });
    expect([cache.get(key('')), cache.weight]).toEqual([undefined, 0]);
  });

  it('tells tenants apart whatever is in their names, and the rows that a revision was read from', () => {
    const cache = new RevisionCache(1_000 * KIB);
    cache.keepRevision(key('a/1', 'w'), revision('w'), { version: 'v', bytes: KIB });
    expect(cache.get(key('a', '1/w'))).toBeUndefined();
    expect(cache.get(key('a/1'), 'v')).toBeDefined();
    expect(cache.get(key('a/1'), 'changed by hand')).toBeUndefined();
  });

  it('knows what was the newest only as long as that revision is kept', () => {
    const cache = new RevisionCache(300 * KIB);
    const premise = { relation: 'workflow_newest', tenant: '', name: 'w', version: '1/v' } as RevisionPrecondition;
    cache.keepRevision(key(''), revision('w'), { version: 'v', bytes: 50 * KIB });
    cache.noteNewest('', 'w', { revision: '1', premise });
    expect(cache.recentRevision('', 'w')).toMatchObject({ premise, revision: { revision: '1' } });
    cache.keepRevision(key('', 'other'), revision('other'), { version: 'v', bytes: 50 * KIB });
    expect(cache.recentRevision('', 'w')).toBeUndefined();
  });
});
