import { TurnStarts } from './turn-starts.js';
import type { WorkLimits } from './work-limits.js';

/** The place of a run in the work of a process. */
export interface WorkPlace {
  /** The caller's account, as `InFlight.accountOf` names it. */
  readonly account: string;
  /** Id of the outermost Task of the run tree. */
  readonly root: string;
  /** Number of own calls that led from the root to the run. */
  readonly level: number;
}

/** The nodes at work of the runs of a tree that lie equally deep. */
interface Level {
  nodes: number;
  /** Runs that wait for room, in the order of their turns. */
  readonly waiting: Set<NodeShare>;
}

interface Tree {
  readonly root: string;
  readonly caller: Caller;
  /** By depth. */
  readonly levels: Level[];
  runs: number;
}

interface Caller {
  readonly account: string;
  nodes: number;
  readonly trees: Map<string, Tree>;
  /** Trees that wait for room, in the order of their turns. */
  readonly waiting: Set<Tree>;
}

const LOOK_AGAIN_MS = 250;

/**
 * Counts the nodes at work in this process, and grants room for more.
 * - A level of a run tree has at most `levelNodes` at work, a caller `callerNodes`, the process `processNodes`.
 * - A tree always has room for one node in each level: a run that waits for its children never holds what they need.
 * - A caller always has room for `callerShare` nodes, however many others have.
 * - Nodes start a few in each turn of the event loop: what a node's agent does at once, in this process, may lead to the
 *   next node at once, and so on.
 * - Runs that wait take turns: callers first, then the trees of a caller, then the runs of a tree from the deepest level.
 */
export class NodeRoom {
  private readonly callers = new Map<string, Caller>();
  private readonly waiting = new Set<Caller>();
  private nodes = 0;
  private timer: NodeJS.Timeout | undefined;
  private readonly starts: TurnStarts;
  /** Trees that may have a level with nothing at work. */
  private readonly changed = new Set<Tree>();

  /** @param isFull true if what a caller, or the process, keeps in memory leaves no room for more work */
  constructor(
    private readonly limits: WorkLimits,
    private readonly isFull: (account: string) => boolean = () => false,
  ) {
    this.starts = new TurnStarts(limits.turnStarts, () => this.grant());
  }

  /** Number of nodes at work, with those that may start. */
  get atWork(): number {
    return this.nodes;
  }

  /** Number of nodes that wait for room. */
  get waitingNodes(): number {
    let sum = 0;
    for (const { waiting } of this.waiting)
      for (const { levels } of waiting)
        for (const level of levels) for (const { wanted } of level.waiting) sum += wanted;
    return sum;
  }

  /** Gives a run its share. @param onRoom called when room is granted that was asked for in vain before */
  join(place: WorkPlace, onRoom: () => void): NodeShare {
    const caller = this.callers.get(place.account) ?? newCaller(place.account);
    this.callers.set(place.account, caller);
    const tree = caller.trees.get(place.root) ?? { root: place.root, caller, levels: [], runs: 0 };
    caller.trees.set(place.root, tree);
    while (tree.levels.length <= place.level) tree.levels.push({ nodes: 0, waiting: new Set() });
    tree.runs += 1;
    return new NodeShare(this, tree, tree.levels[place.level] as Level, onRoom);
  }

  /** Counts nodes of a run that are at work from now on, or no longer. */
  count({ tree, level }: NodeShare, nodes: number): void {
    level.nodes += nodes;
    tree.caller.nodes += nodes;
    this.nodes += nodes;
    if (nodes < 0) this.grantAfter(tree);
  }

  /** Takes a run among those that wait, or out of them, as it says itself. */
  queue(share: NodeShare): void {
    const { tree, level } = share;
    const { caller } = tree;
    if (share.wanted > 0) {
      level.waiting.add(share);
      caller.waiting.add(tree);
      this.waiting.add(caller);
      this.grantAfter(tree);
      return;
    }
    level.waiting.delete(share);
    if (tree.levels.every(({ waiting }) => waiting.size === 0)) caller.waiting.delete(tree);
    if (caller.waiting.size === 0) this.waiting.delete(caller);
  }

  /** Forgets a run that has given everything back. */
  forget({ tree }: NodeShare): void {
    tree.runs -= 1;
    if (tree.runs > 0) return;
    tree.caller.trees.delete(tree.root);
    if (tree.caller.trees.size === 0) this.callers.delete(tree.caller.account);
  }

  /** Grants the room that there is now that a tree has less at work, or waits for more. */
  private grantAfter(tree: Tree): void {
    if (this.waiting.size === 0) return;
    this.changed.add(tree);
    this.grant();
  }

  /** Grants room as far as there is any, and nodes may start in this turn of the event loop. */
  private grant(): void {
    for (let share = this.next(); share && this.starts.take(); share = this.next()) this.grantTo(share);
    this.lookAgain();
  }

  private next(): NodeShare | undefined {
    return this.nextOfIdleLevel() ?? this.nextInTurn();
  }

  private nextOfIdleLevel(): NodeShare | undefined {
    for (const tree of this.changed) {
      const idle = tree.levels.find(({ nodes, waiting }) => nodes === 0 && waiting.size > 0);
      const [share] = idle?.waiting ?? [];
      if (share) return share;
      this.changed.delete(tree);
    }
    return undefined;
  }

  private nextInTurn(): NodeShare | undefined {
    for (const caller of this.waiting) {
      if (!this.hasRoom(caller)) continue;
      for (const tree of caller.waiting) {
        const level = tree.levels.findLast(({ nodes, waiting }) => waiting.size > 0 && nodes < this.limits.levelNodes);
        const [share] = level?.waiting ?? [];
        if (share) return share;
      }
    }
    return undefined;
  }

  private hasRoom({ account, nodes }: Caller): boolean {
    const { callerNodes, callerShare, processNodes } = this.limits;
    if (nodes < Math.min(callerShare, callerNodes)) return true;
    return nodes < callerNodes && this.nodes < processNodes && !this.isFull(account);
  }

  private grantTo(share: NodeShare): void {
    const { tree, level } = share;
    this.count(share, 1);
    takeLastTurn(level.waiting, share);
    takeLastTurn(tree.caller.waiting, tree);
    takeLastTurn(this.waiting, tree.caller);
    share.grant();
    if (share.wanted === 0) this.queue(share);
  }

  /** Memory becomes free without a word. */
  private lookAgain(): void {
    if (this.timer !== undefined || ![...this.waiting].some(({ account }) => this.isFull(account))) return;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.grant();
    }, LOOK_AGAIN_MS).unref();
  }
}

/** The part of NodeRoom that one run has. */
export class NodeShare {
  /** Number of nodes that wait for room. */
  wanted = 0;
  private atWork = 0;
  private granted = 0;
  private isAsking = false;

  constructor(
    private readonly room: NodeRoom,
    readonly tree: Tree,
    readonly level: Level,
    private readonly onRoom: () => void,
  ) {}

  /**
   * Sets how many nodes of the run are at work, whatever the limits say: what has started is not stopped. The room that was
   * granted is used first.
   */
  occupy(nodes: number): void {
    const more = nodes - this.atWork;
    if (more === 0) return;
    const used = Math.max(Math.min(more, this.granted), 0);
    this.atWork = nodes;
    this.granted -= used;
    if (more !== used) this.room.count(this, more - used);
  }

  /**
   * Asks for room for nodes beside those at work, in place of what was asked for before.
   * @returns how many of them may start now
   */
  reserve(nodes: number): number {
    const surplus = Math.max(this.granted - nodes, 0);
    if (surplus === 0 && this.granted + this.wanted === nodes) return this.granted;
    this.granted -= surplus;
    this.wanted = nodes - this.granted;
    this.isAsking = true;
    // Out of the queue first: what is given back must not be granted to this run again.
    this.room.queue(this);
    if (surplus > 0) this.room.count(this, -surplus);
    this.isAsking = false;
    return this.granted;
  }

  /** Gives everything back: the execution of the run has ended. */
  leave(): void {
    this.reserve(0);
    this.occupy(0);
    this.room.forget(this);
  }

  /** Takes room for one node. */
  grant(): void {
    this.granted += 1;
    this.wanted -= 1;
    if (!this.isAsking) this.onRoom();
  }
}

function newCaller(account: string): Caller {
  return { account, nodes: 0, trees: new Map(), waiting: new Set() };
}

function takeLastTurn<T>(turns: Set<T>, one: T): void {
  turns.delete(one);
  turns.add(one);
}
