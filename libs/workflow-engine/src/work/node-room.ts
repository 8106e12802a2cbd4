/**
 * Limit on the processor time of one turn (cycle) of the event loop, in milliseconds. After a longer turn, fewer nodes
 * start per turn.
 */
const LONGEST_TURN = 20;

/** Limits the number of nodes that start in one turn of the event loop, so that other events are served. */
class TurnStarts {
  private most: number;
  private left: number;
  private began = 0;
  private isRefused = false;
  private isUnderWay = false;

  /**
   * @param limit maximum number of starts per turn; fewer after a slow turn
   * @param onTurn called at the end of a turn in which a start was refused
   */
  constructor(
    private readonly limit: number,
    private readonly onTurn: () => void,
  ) {
    this.most = limit;
    this.left = limit;
  }

  /** Counts a start. @returns false if no further node may start in this turn */
  takeStart(): boolean {
    if (!this.isUnderWay) this.beginTurn();
    if (this.left < 1) {
      this.isRefused = true;
      return false;
    }
    this.left -= 1;
    return true;
  }

  private beginTurn(): void {
    this.isUnderWay = true;
    this.began = processorTime();
    setImmediate(() => this.endTurn());
  }

  private endTurn(): void {
    const took = processorTime() - this.began;
    if (took > LONGEST_TURN) this.most = Math.max(1, Math.floor(this.most / 2));
    else if (took < LONGEST_TURN / 2) this.most = Math.min(this.limit, this.most + 1);
    const { isRefused } = this;
    this.left = this.most;
    this.isRefused = false;
    this.isUnderWay = false;
    if (isRefused) this.onTurn();
  }
}

/** Returns the processor time of this thread in milliseconds, which does not grow while other threads run. */
function processorTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** Limits on the work of all runs in one process. Work beyond a limit waits. */
export interface WorkLimits {
  /** Maximum number of running nodes in one level of a run tree. */
  readonly levelNodes: number;
  /** Maximum number of running nodes of one caller, in all its run trees. */
  readonly callerNodes: number;
  /** Number of running nodes that a caller may always have, however many nodes other callers run. */
  readonly callerShare: number;
  /** Maximum number of running nodes of all callers. */
  readonly processNodes: number;
  /** Maximum number of nodes that start in one turn of the event loop; fewer if turns take long. */
  readonly turnStarts: number;
  /**
   * Evaluation steps (of CEL expressions) that one caller gets per second. At most the steps of one second are saved
   * up.
   */
  readonly callerSteps: number;
  /**
   * Evaluation steps (of CEL expressions) that all callers together get per second. At most the steps of one second are
   * saved up.
   */
  readonly processSteps: number;
}

const LEVELS_OF_CALLER = 4;
const LEVELS_OF_PROCESS = 16;
const SHARES_OF_LEVEL = 8;
const TURN_STARTS = 16;
/** Evaluation steps per second of one caller: about a tenth of a second of one processor. */
const CALLER_STEPS = 1_000_000;

/**
 * Returns the limits of a process, derived from one setting.
 * @param levelNodes maximum number of running nodes in one level of a run tree, from 1 (NODES_AT_WORK_LIMIT)
 */
export function workLimits(levelNodes: number): WorkLimits {
  return {
    levelNodes,
    callerNodes: LEVELS_OF_CALLER * levelNodes,
    callerShare: Math.ceil(levelNodes / SHARES_OF_LEVEL),
    processNodes: LEVELS_OF_PROCESS * levelNodes,
    turnStarts: TURN_STARTS,
    callerSteps: CALLER_STEPS,
    processSteps: 2 * CALLER_STEPS,
  };
}

/** Caller, run tree and nesting depth of a run. The running nodes of the run count toward the limits of these three. */
export interface WorkPlace {
  /** Account of the caller, as `InFlight.accountOf` names it. */
  readonly account: string;
  /** Id of the outermost Task of the run tree. */
  readonly root: string;
  /** Depth of the run in the tree: the number of calls inside this service from the root to the run. */
  readonly level: number;
}

/** Level of a run tree: its runs at one nesting depth, with the number of their running nodes. */
interface TreeLevel {
  nodes: number;
  /** Runs that wait for permission to start nodes; the first of them is next. */
  readonly waiting: Set<NodeShare>;
}

interface Tree {
  readonly root: string;
  readonly caller: RoomCaller;
  /** Levels of the tree, by depth. */
  readonly levels: TreeLevel[];
  runs: number;
}

interface RoomCaller {
  readonly account: string;
  nodes: number;
  readonly trees: Map<string, Tree>;
  /** Run trees that wait for permission to start nodes; the first of them is next. */
  readonly waiting: Set<Tree>;
}

const LOOK_AGAIN_MS = 250;

/**
 * Counts the running nodes of this process, and permits further nodes to start (StepBudget limits evaluation steps). In
 * this class, "room" is the number of nodes that may still start.
 * - A level of a run tree has at most `levelNodes` running nodes, a caller `callerNodes`, the process `processNodes`.
 * - A tree always has room for one node per level. A run that waits for its children therefore never uses up the room
 *   that the children need.
 * - A caller always has room for `callerShare` nodes, however many nodes other callers run.
 * - Only a few nodes start per cycle of the event loop, since a node in this process may immediately start the next
 *   node.
 * - Waiting runs take turns: callers first, then the trees of a caller, then the runs of a tree from the deepest level.
 */
export class NodeRoom {
  private readonly callers = new Map<string, RoomCaller>();
  private readonly waiting = new Set<RoomCaller>();
  private nodes = 0;
  private timer: NodeJS.Timeout | undefined;
  private readonly starts: TurnStarts;
  /**
   * Run trees whose running or waiting nodes have changed. They are searched for a level that waits and has no running
   * node, because such a level may always start one node.
   */
  private readonly changed = new Set<Tree>();

  /** @param isFull true if a caller, or the process, uses so much memory that no further node may start */
  constructor(
    private readonly limits: WorkLimits,
    private readonly isFull: (account: string) => boolean = () => false,
  ) {
    this.starts = new TurnStarts(limits.turnStarts, () => this.grantRoom());
  }

  /** Number of nodes that run, or have permission to start. */
  get atWork(): number {
    return this.nodes;
  }

  /** Number of nodes that must wait because a limit on running nodes is reached. */
  get waitingNodes(): number {
    let sum = 0;
    for (const { waiting } of this.waiting)
      for (const { levels } of waiting)
        for (const level of levels) for (const { wanted } of level.waiting) sum += wanted;
    return sum;
  }

  /**
   * Adds a run, and returns the object by which the run requests and releases room (permission to run nodes).
   * @param onRoom called when room is granted that was not available when requested
   */
  joinRun(place: WorkPlace, onRoom: () => void): NodeShare {
    const caller = this.callers.get(place.account) ?? newCaller(place.account);
    this.callers.set(place.account, caller);
    const tree = caller.trees.get(place.root) ?? { root: place.root, caller, levels: [], runs: 0 };
    caller.trees.set(place.root, tree);
    while (tree.levels.length <= place.level) tree.levels.push({ nodes: 0, waiting: new Set() });
    tree.runs += 1;
    return new NodeShare(this, tree, tree.levels[place.level] as TreeLevel, onRoom);
  }

  /** Adds `nodes` to the number of running nodes of a run; a negative number subtracts. */
  countNodes({ tree, level }: NodeShare, nodes: number): void {
    level.nodes += nodes;
    tree.caller.nodes += nodes;
    this.nodes += nodes;
    if (nodes < 0) this.grantAfter(tree);
  }

  /** Adds a run to the queue if it waits for permission to start further nodes; otherwise removes it from the queue. */
  queueShare(share: NodeShare): void {
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

  /** Removes a run that has no running nodes and requests none. */
  forgetRun({ tree }: NodeShare): void {
    tree.runs -= 1;
    if (tree.runs > 0) return;
    tree.caller.trees.delete(tree.root);
    if (tree.caller.trees.size === 0) this.callers.delete(tree.caller.account);
  }

  /** Grants room (permission to start nodes) after a tree has fewer running nodes, or waits for further nodes. */
  private grantAfter(tree: Tree): void {
    if (this.waiting.size === 0) return;
    this.changed.add(tree);
    this.grantRoom();
  }

  /**
   * Grants available room (permission to start nodes) to as many nodes as may start in this cycle of the event loop.
   */
  private grantRoom(): void {
    for (let share = this.nextShare(); share && this.starts.takeStart(); share = this.nextShare()) this.grantTo(share);
    this.lookAgain();
  }

  private nextShare(): NodeShare | undefined {
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

  private hasRoom({ account, nodes }: RoomCaller): boolean {
    const { callerNodes, callerShare, processNodes } = this.limits;
    if (nodes < Math.min(callerShare, callerNodes)) return true;
    return nodes < callerNodes && this.nodes < processNodes && !this.isFull(account);
  }

  private grantTo(share: NodeShare): void {
    const { tree, level } = share;
    this.countNodes(share, 1);
    takeLastTurn(level.waiting, share);
    takeLastTurn(tree.caller.waiting, tree);
    takeLastTurn(this.waiting, tree.caller);
    share.grantNode();
    if (share.wanted === 0) this.queueShare(share);
  }

  /**
   * Schedules another attempt to grant waiting requests, if a request waits because of memory. The timer is needed
   * because no event reports freed memory.
   */
  private lookAgain(): void {
    if (this.timer !== undefined || ![...this.waiting].some(({ account }) => this.isFull(account))) return;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.grantRoom();
    }, LOOK_AGAIN_MS).unref();
  }
}

/** Part of NodeRoom that one run uses: its running nodes, and the nodes that it may not start yet. */
export class NodeShare {
  /** Number of nodes that the run wants to start and that must wait. */
  wanted = 0;
  private atWork = 0;
  private granted = 0;
  private isAsking = false;

  constructor(
    private readonly room: NodeRoom,
    readonly tree: Tree,
    readonly level: TreeLevel,
    private readonly onRoom: () => void,
  ) {}

  /**
   * Sets the number of running nodes, regardless of limits: a started node is never stopped. Permissions that were
   * granted before are used up first.
   */
  occupyNodes(nodes: number): void {
    const more = nodes - this.atWork;
    if (more === 0) return;
    const used = Math.max(Math.min(more, this.granted), 0);
    this.atWork = nodes;
    this.granted -= used;
    if (more !== used) this.room.countNodes(this, more - used);
  }

  /**
   * Requests permission to start nodes in addition to the running ones. Replaces the previous request.
   * @returns the number of nodes that may start now
   */
  reserveNodes(nodes: number): number {
    const surplus = Math.max(this.granted - nodes, 0);
    if (surplus === 0 && this.granted + this.wanted === nodes) return this.granted;
    this.granted -= surplus;
    this.wanted = nodes - this.granted;
    this.isAsking = true;
    // Leave the queue first: returned room must not be granted to this run again.
    this.room.queueShare(this);
    if (surplus > 0) this.room.countNodes(this, -surplus);
    this.isAsking = false;
    return this.granted;
  }

  /** Releases all running and requested nodes of the run after its execution. */
  leaveRoom(): void {
    this.reserveNodes(0);
    this.occupyNodes(0);
    this.room.forgetRun(this);
  }

  /** Notes that NodeRoom has permitted one more node to start. */
  grantNode(): void {
    this.granted += 1;
    this.wanted -= 1;
    if (!this.isAsking) this.onRoom();
  }
}

function newCaller(account: string): RoomCaller {
  return { account, nodes: 0, trees: new Map(), waiting: new Set() };
}

function takeLastTurn<T>(turns: Set<T>, one: T): void {
  turns.delete(one);
  turns.add(one);
}
