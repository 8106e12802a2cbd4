import { Module } from '@nestjs/common';
import { AppConfig, InFlight, LoopShares, Metrics } from '#libs/service';
import { NodeRoom, type NodeShare, type WorkPlace } from './node-room.js';
import { RunTurns, type StretchShares } from './run-turns.js';
import { StepBudget, type StepShare } from './step-budget.js';
import { workLimits, type WorkLimits } from './work-limits.js';

/** Share of the process that one execution of a run may use. */
export interface RunWork {
  readonly nodes: NodeShare;
  readonly steps: StepShare;
  /** Resolves when the run may continue after it has used up its time, or when the signal aborts. */
  nextTurn(signal: AbortSignal): Promise<void>;
  /** Releases everything after the execution. */
  leave(): void;
}

/**
 * Budget that the runs of this process share: running nodes and evaluation steps. Use is charged to the root of the run
 * tree, to its caller and to the process. Work beyond the budget waits. Cancels and answers need no budget.
 */
export class WorkBudget {
  readonly nodes: NodeRoom;
  readonly steps: StepBudget;
  private readonly turns: RunTurns;

  /** @param isFull true if the memory used by a caller, or by the process, leaves no room for more work */
  constructor(limits: WorkLimits, isFull?: (account: string) => boolean, shares?: StretchShares) {
    this.turns = new RunTurns(shares);
    this.nodes = new NodeRoom(limits, isFull);
    this.steps = new StepBudget(limits);
  }

  /** Adds the execution of a run. @param onRoom called when room is granted that was not available when requested */
  joinRun(place: WorkPlace, onRoom: () => void): RunWork {
    const nodes = this.nodes.joinRun(place, onRoom);
    const steps = this.steps.joinRun(place);
    const leave = (): void => {
      nodes.leaveRoom();
      steps.leaveBudget();
    };
    return { nodes, steps, nextTurn: (signal) => this.turns.next(place.account, signal), leave };
  }
}

function workBudget({ memory }: AppConfig, inFlight: InFlight, metrics: Metrics, shares: LoopShares): WorkBudget {
  const budget = new WorkBudget(workLimits(memory.nodesAtWork), (account) => inFlight.isFull(account), shares);
  const { nodes, steps } = budget;
  metrics.gauge('parley_nodes_at_work', 'Nodes of runs at work in this replica', [], () => nodes.atWork);
  metrics.gauge(
    'parley_nodes_waiting',
    'Nodes of runs that wait for room in this replica',
    [],
    () => nodes.waitingNodes,
  );
  metrics.gauge(
    'parley_evaluations_waiting',
    'Runs whose next expression waits for its turn',
    [],
    () => steps.waitingRuns,
  );
  return budget;
}

/** WorkBudget of the process. Needs ServiceModule. */
@Module({
  providers: [{ provide: WorkBudget, inject: [AppConfig, InFlight, Metrics, LoopShares], useFactory: workBudget }],
  exports: [WorkBudget],
})
export class WorkBudgetModule {}
