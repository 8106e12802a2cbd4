import { Module } from '@nestjs/common';
import { AppConfig, InFlight, Metrics } from '#libs/service';
import { NodeRoom, type NodeShare, type WorkPlace } from './node-room.js';
import { RunTurns } from './run-turns.js';
import { StepBudget, type StepShare } from './step-budget.js';
import { workLimits, type WorkLimits } from './work-limits.js';

/** Share of its process that one execution of a run may use. */
export interface RunWork {
  readonly nodes: NodeShare;
  readonly steps: StepShare;
  /** Resolves when it is its turn to go on, after it has worked for as long as it may at a time; also once it is aborted. */
  nextTurn(signal: AbortSignal): Promise<void>;
  /** Gives everything back: the execution has ended. */
  leave(): void;
}

/**
 * Budget that runs share in this process, charged to the root of their tree, to its caller and to the process: nodes
 * at work and evaluation steps. What exceeds it waits. Cancels and answers need none of it.
 */
export class WorkBudget {
  readonly nodes: NodeRoom;
  readonly steps: StepBudget;
  private readonly turns = new RunTurns();

  /** @param isFull true if what a caller, or the process, keeps in memory leaves no room for more work */
  constructor(limits: WorkLimits, isFull?: (account: string) => boolean) {
    this.nodes = new NodeRoom(limits, isFull);
    this.steps = new StepBudget(limits);
  }

  /** Gives the execution of a run its part. @param onRoom called when room is granted that it has asked for in vain */
  join(place: WorkPlace, onRoom: () => void): RunWork {
    const nodes = this.nodes.join(place, onRoom);
    const steps = this.steps.join(place);
    const leave = (): void => {
      nodes.leave();
      steps.leave();
    };
    return { nodes, steps, nextTurn: (signal) => this.turns.next(place.account, signal), leave };
  }
}

function workBudget({ memory }: AppConfig, inFlight: InFlight, metrics: Metrics): WorkBudget {
  const budget = new WorkBudget(workLimits(memory.nodesAtWork), (account) => inFlight.isFull(account));
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
  providers: [{ provide: WorkBudget, inject: [AppConfig, InFlight, Metrics], useFactory: workBudget }],
  exports: [WorkBudget],
})
export class WorkBudgetModule {}
