import { NodeRoom, type NodeShare, workLimits, type WorkLimits, type WorkPlace } from './node-room.js';

const LIMITS: WorkLimits = { ...workLimits(4), callerNodes: 8, callerShare: 1, processNodes: 12, turnStarts: Infinity };

function room(limits: Partial<WorkLimits> = {}, isFull?: (account: string) => boolean) {
  const notified: string[] = [];
  const nodes = new NodeRoom({ ...LIMITS, ...limits }, isFull);
  const join = (name: string, place: Partial<WorkPlace> = {}): NodeShare =>
    nodes.joinRun({ account: 'ann', root: 'run-1', level: 0, ...place }, () => notified.push(name));
  return { nodes, join, notified };
}

describe('NodeRoom', () => {
  it('grants at once what every limit allows', () => {
    const { nodes, join, notified } = room();
    const share = join('a');
    expect(share.reserveNodes(3)).toBe(3);
    share.occupyNodes(3);
    expect(share.reserveNodes(0)).toBe(0);
    expect([nodes.atWork, nodes.waitingNodes, notified]).toEqual([3, 0, []]);
  });

  it('lets nodes of one level wait for each other, and those of the next level start', () => {
    const { nodes, join, notified } = room();
    const [parent, child] = [join('parent'), join('child', { level: 1 })];
    expect(parent.reserveNodes(10)).toBe(4);
    parent.occupyNodes(4);
    expect(parent.reserveNodes(6)).toBe(0);
    expect(child.reserveNodes(10)).toBe(4);
    expect(nodes.waitingNodes).toBe(12);
    parent.occupyNodes(3);
    expect(notified).toEqual(['parent']);
    expect(parent.reserveNodes(6)).toBe(1);
  });

  it('always grants one node in each level of a tree, however full the process is', () => {
    const { join } = room({ processNodes: 4, callerNodes: 4 });
    join('hog').reserveNodes(4);
    const grants = Array.from({ length: 12 }, (_, level) =>
      join(`deep ${level}`, { root: 'run-2', level }).reserveNodes(5),
    );
    expect(grants).toEqual(Array.from({ length: 12 }, () => 1));
  });

  it('always grants a caller its share, however many others have', () => {
    const { join } = room({ processNodes: 4, callerShare: 3 });
    join('hog').reserveNodes(4);
    const bob = { account: 'bob', root: 'run-2' };
    expect(join('bob', bob).reserveNodes(10)).toBe(3);
  });

  it('keeps a caller within its limit over all its trees', () => {
    const { nodes, join } = room({ callerNodes: 6 });
    const grants = ['run-1', 'run-2', 'run-3'].map((root) => join(root, { root }).reserveNodes(4));
    expect(grants).toEqual([4, 2, 1]);
    expect(nodes.atWork).toBe(7);
  });

  it('lets callers take turns, and the trees of a caller, whoever asked for more and earlier', () => {
    const { join, notified } = room({ callerNodes: 100, processNodes: 100, callerShare: 0, levelNodes: 100 });
    const hog = join('hog', { account: 'zoe', root: 'z' });
    hog.occupyNodes(100);
    const shares = [
      join('ann 1', { root: 'run-1' }),
      join('ann 2', { root: 'run-2' }),
      join('bob 1', { account: 'bob', root: 'run-3' }),
    ];
    for (const [index, share] of shares.entries()) {
      expect(share.reserveNodes(50 - index)).toBe(1);
      share.occupyNodes(1);
      share.reserveNodes(50 - index);
    }
    for (let nodes = 97; nodes > 88; nodes -= 1) hog.occupyNodes(nodes - 1);
    expect(notified.slice(0, 6)).toEqual(['ann 1', 'bob 1', 'ann 2', 'bob 1', 'ann 1', 'bob 1']);
  });

  it('gives the deepest level of a tree its turn first', () => {
    const { join, notified } = room({ callerNodes: 3, processNodes: 3 });
    const [hog, upper, deep] = [join('hog', { root: 'h' }), join('upper'), join('deep', { level: 3 })];
    hog.reserveNodes(3);
    hog.occupyNodes(3);
    for (const share of [upper, deep]) {
      share.reserveNodes(1);
      share.occupyNodes(1);
      share.reserveNodes(2);
    }
    hog.occupyNodes(1);
    hog.occupyNodes(0);
    expect(notified[0]).toBe('deep');
  });

  it('counts what was started before, and starts nothing beside it before there is room', () => {
    const { nodes, join, notified } = room();
    const recovered = join('recovered');
    recovered.occupyNodes(9);
    expect(recovered.reserveNodes(3)).toBe(0);
    recovered.occupyNodes(5);
    expect(notified).toEqual([]);
    recovered.occupyNodes(3);
    expect(notified).toEqual(['recovered']);
    expect(nodes.atWork).toBe(4);
  });

  it('takes back what is not wanted any more, and gives it to others', () => {
    const { join, notified } = room();
    const [one, other] = [join('one'), join('other')];
    expect(one.reserveNodes(4)).toBe(4);
    expect(other.reserveNodes(2)).toBe(0);
    expect(one.reserveNodes(3)).toBe(3);
    expect(notified).toEqual(['other']);
    one.leaveRoom();
    expect(other.reserveNodes(2)).toBe(2);
  });

  it('grants nothing to a run that leaves while it still waits for more', () => {
    const { nodes, join } = room();
    const share = join('a');
    expect(share.reserveNodes(10)).toBe(4);
    share.leaveRoom();
    expect(nodes).toMatchObject({ atWork: 0, waitingNodes: 0 });
    expect(join('b').reserveNodes(4)).toBe(4);
  });

  it('starts nothing beyond one node a level while too much is kept in memory, and looks again', async () => {
    let isFull = true;
    const { join, notified } = room({}, () => isFull);
    const share = join('a');
    expect(share.reserveNodes(3)).toBe(1);
    isFull = false;
    await new Promise<void>((resolve) => {
      const look = setInterval(() => {
        if (notified.length < 2) return;
        clearInterval(look);
        resolve();
      }, 10);
    });
    expect(share.reserveNodes(3)).toBe(3);
  });

  it('starts a few nodes in each turn of the event loop, of each caller in turn', async () => {
    const { join, notified } = room({ turnStarts: 2, levelNodes: 100, callerNodes: 100, processNodes: 100 });
    expect(join('ann').reserveNodes(10)).toBe(2);
    expect(join('bob', { account: 'bob', root: 'run-2' }).reserveNodes(10)).toBe(0);
    expect(notified).toEqual([]);
    while (notified.length < 18) {
      const before = notified.length;
      await new Promise<void>((resolve) => setImmediate(resolve));
      expect(notified.length - before).toBeLessThanOrEqual(2);
    }
    expect(notified.slice(0, 6).toSorted()).toEqual(['ann', 'ann', 'ann', 'bob', 'bob', 'bob']);
    expect(notified.filter((name) => name === 'bob')).toHaveLength(10);
  });

  it('forgets callers and trees that have nothing', () => {
    const { nodes, join } = room();
    const shares = [join('a'), join('b', { level: 2 }), join('c', { account: 'bob' })];
    for (const share of shares) share.occupyNodes(share.reserveNodes(2));
    for (const share of shares) share.leaveRoom();
    expect(nodes).toMatchObject({ atWork: 0, waitingNodes: 0 });
    expect((nodes as unknown as { callers: Map<string, unknown> }).callers.size).toBe(0);
  });

  it('comes to an end for any tree, with the least room there can be', () => {
    const { nodes, join } = room({ levelNodes: 1, callerNodes: 1, callerShare: 0, processNodes: 1 });
    const left: string[] = [];
    const queue: (() => void)[] = [];
    const run = (level: number, name: string, done: () => void): void => {
      let [toStart, atWork] = [level === 4 ? 0 : 3, 0];
      const share = join(name, { level });
      const step = (): void => {
        share.occupyNodes(atWork);
        const granted = share.reserveNodes(toStart);
        for (let count = 0; count < granted; count += 1) {
          toStart -= 1;
          atWork += 1;
          queue.push(() => run(level + 1, `${name}.${toStart}`, () => ((atWork -= 1), step())));
        }
        share.occupyNodes(atWork);
        if (toStart === 0 && atWork === 0) {
          share.leaveRoom();
          left.push(name);
          queue.push(done);
        }
      };
      steps.set(name, step);
      step();
    };
    const steps = new Map<string, () => void>();
    run(0, 'root', () => undefined);
    for (let turn = 0; turn < 100_000 && !left.includes('root'); turn += 1) {
      const next = queue.shift();
      if (next) next();
      else for (const [name, step] of steps) if (!left.includes(name)) step();
    }
    expect(left).toHaveLength(1 + 3 + 9 + 27 + 81);
    expect(nodes.atWork).toBe(0);
  });
});
