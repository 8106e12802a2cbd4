import { firstData, firstText, type JsonValue, runEventNote, type RunEventNote } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import { type BrainstormSpec, specIn, stateAgents } from './brainstorm-spec.js';
import {
  addedUsage,
  type AgentTokenUsage,
  type AgentTurnPlace,
  type BrainstormStepPayloads,
  type StoppedAgent,
} from './brainstorm-steps.js';
import { type CanonicalState, initialState, type Provenance, type StateContent } from './core/canonical-state.js';
import type { Convergence } from './core/convergence.js';
import type { BrainstormRole } from './core/role.js';

export type BrainstormStatus = 'active' | 'converged' | 'approved' | 'failed' | 'canceled';

/** Turn of one agent in one pass. */
export interface PassTurn {
  readonly position: number;
  readonly agent: string;
  readonly role: BrainstormRole;
  status: 'pending' | 'running' | 'completed' | 'failed' | 'canceled';
  /** Number of calls made for this turn over the whole pass, repetitions included. */
  attempts: number;
  /** Number of answers without a valid state since the pass began, or since a caller last continued it. */
  rejections: number;
  /** Faults of the last answer without a valid state; kept for the whole pass, absent if there was none. */
  faults?: string;
  /** Number of answers that the agent sent back to its model for a repair, over the whole pass. */
  repairs?: number;
  /** Number of repairs during the last call that are already recorded in the log. */
  recordedRepairs?: number;
  /** Tokens that the agent reports for the calls of its model, over the whole pass; absent if it reports none. */
  usage?: AgentTokenUsage;
  url?: string;
  messageId?: string;
  /** Name of the stored credential of the last call, if the agent is a remote one. */
  credential?: string;
  taskId?: string;
  state?: StateContent;
  error?: string;
}

export interface Pass {
  readonly iteration: number;
  readonly agents: PassTurn[];
  /** Confidence of the merged state; absent until the pass is complete. */
  confidence?: number;
}

/**
 * Progress of a brainstorm, which results from the events of its Task's log. The same events always give the same
 * progress.
 */
export class BrainstormProgress {
  status: BrainstormStatus = 'active';
  /** Merged states in order, beginning with the initial state. */
  readonly history: CanonicalState[];
  readonly passes: Pass[] = [];
  provenance: Provenance = {};
  /**
   * Decision about convergence after the last complete pass; absent before it, and once a caller has requested one
   * more pass.
   */
  verdict?: Convergence;
  failure?: { agent?: string; message: string };
  stopped?: StoppedAgent[];

  constructor(readonly spec: BrainstormSpec) {
    this.history = [initialState(spec.idea, stateAgents(spec))];
  }

  /**
   * Returns the progress after all events of a log.
   * @throws Error for a log without a Task, or a Task that is not a brainstorm
   */
  static fromEvents(events: Iterable<TaskEvent>): BrainstormProgress {
    let progress: BrainstormProgress | undefined;
    for (const event of events) {
      if ('task' in event) progress = new BrainstormProgress(specIn(event.task.metadata));
      else progress?.apply(event);
    }
    if (progress === undefined) throw new Error('The log of a task begins with the task');
    return progress;
  }

  /** Last merged state; the initial state before the first merge. */
  get state(): CanonicalState {
    return this.history.at(-1) as CanonicalState;
  }

  /** Pass that is not complete yet, if any. */
  get pass(): Pass | undefined {
    const last = this.passes.at(-1);
    return last?.confidence === undefined ? last : undefined;
  }

  /** Applies the next event of the log. */
  apply(event: TaskEvent): void {
    if ('task' in event) return;
    if ('artifactUpdate' in event) {
      const { artifact, metadata } = event.artifactUpdate;
      const state = firstData(artifact.parts);
      const note = runEventNote(metadata);
      if (note?.type === 'iteration.completed' && state !== undefined) this.completePass(note, state);
      return;
    }
    const { status, metadata } = event.statusUpdate;
    if (event.received) this.resumeAfterInput();
    const note = runEventNote(metadata);
    if (note) this.foldNote(note);
    if (status.state === 'TASK_STATE_FAILED') this.failBrainstorm(undefined, firstText(status.message?.parts ?? []));
    if (status.state === 'TASK_STATE_CANCELED') this.endWith('canceled');
    if (status.state === 'TASK_STATE_COMPLETED') this.endWith(this.status === 'active' ? 'approved' : this.status);
  }

  private foldNote({ type, payload }: RunEventNote): void {
    const step = FOLDS[type as keyof typeof FOLDS] as ((run: BrainstormProgress, payload: unknown) => void) | undefined;
    step?.(this, payload);
  }

  private completePass({ payload }: RunEventNote, state: JsonValue): void {
    const { confidence, provenance, verdict } = payload as unknown as BrainstormStepPayloads['iteration.completed'];
    if (this.pass) this.pass.confidence = confidence;
    this.history.push(state as unknown as CanonicalState);
    this.provenance = provenance;
    this.verdict = verdict;
  }

  /**
   * Handles a caller's request to continue: a converged brainstorm makes one more pass, a failed one resumes its
   * pass.
   */
  private resumeAfterInput(): void {
    this.status = 'active';
    this.verdict = undefined;
    this.failure = undefined;
    for (const turn of this.pass?.agents ?? []) {
      if (turn.status === 'completed') continue;
      turn.status = 'pending';
      turn.rejections = 0;
      delete turn.error;
    }
  }

  failBrainstorm(agent: string | undefined, message = 'The brainstorm failed'): void {
    this.status = 'failed';
    this.failure ??= { ...(agent !== undefined && { agent }), message };
  }

  endWith(status: BrainstormStatus): void {
    this.status = status;
    for (const turn of this.pass?.agents ?? []) if (turn.status === 'running') turn.status = 'canceled';
  }

  beginPass(iteration: number): void {
    const agents = this.spec.agents.map(({ agent, role }, position): PassTurn => {
      return { position, agent, role, status: 'pending', attempts: 0, rejections: 0 };
    });
    this.passes.push({ iteration, agents });
  }

  findTurn({ position }: AgentTurnPlace): PassTurn | undefined {
    return this.pass?.agents[position];
  }
}

type Folds = {
  [T in keyof BrainstormStepPayloads]?: (run: BrainstormProgress, said: BrainstormStepPayloads[T]) => void;
};

const FOLDS: Folds = {
  'iteration.started': (run, { iteration }) => run.beginPass(iteration),
  'agent.started': (run, { attempt, url, messageId, credential, ...place }) => {
    const call = { url, messageId, credential, taskId: undefined, recordedRepairs: undefined };
    changeTurn(run, place, { status: 'running', attempts: attempt, ...call });
  },
  'agent.phase': (run, { taskId, ...place }) => changeTurn(run, place, { taskId }),
  'agent.rejected': (run, { error, usage, ...place }) => {
    const rejections = (run.findTurn(place)?.rejections ?? 0) + 1;
    changeTurn(run, place, { status: 'pending', rejections, error, faults: error, ...addTurnUsage(run, place, usage) });
  },
  'agent.repaired': (run, { faults: _faults, ...place }) => {
    const { repairs = 0, recordedRepairs = 0 } = run.findTurn(place) ?? {};
    changeTurn(run, place, { repairs: repairs + 1, recordedRepairs: recordedRepairs + 1 });
  },
  'agent.completed': (run, { state, usage, ...place }) =>
    changeTurn(run, place, { status: 'completed', state, error: undefined, ...addTurnUsage(run, place, usage) }),
  'agent.error': (run, { error, ...place }) => {
    changeTurn(run, place, { status: 'failed', error });
    run.failure = { agent: place.agent, message: error };
  },
  'brainstorm.converged': (run) => run.endWith('converged'),
  'brainstorm.failed': (run, { agent, error }) => run.failBrainstorm(agent, error),
  'brainstorm.approved': (run) => run.endWith('approved'),
  'brainstorm.canceled': (run, { agents }) => {
    run.stopped = agents;
  },
};

function changeTurn(run: BrainstormProgress, place: AgentTurnPlace, fields: Partial<PassTurn>): void {
  const turn = run.findTurn(place);
  if (turn) Object.assign(turn, fields);
}

function addTurnUsage(
  run: BrainstormProgress,
  place: AgentTurnPlace,
  usage?: AgentTokenUsage,
): Pick<PassTurn, 'usage'> {
  return usage ? { usage: addedUsage(run.findTurn(place)?.usage, usage) } : {};
}

/** Maximum retries of a turn after answers without a valid state; one more such answer fails the pass. */
const MOST_REJECTIONS = 2;

/** Next step of a brainstorm. */
export type NextStep =
  | { kind: 'begin'; iteration: number }
  | { kind: 'announce'; turn: PassTurn }
  | { kind: 'call'; turn: PassTurn }
  | { kind: 'give-up'; turn: PassTurn }
  | { kind: 'merge'; iteration: number }
  | { kind: 'await-input'; as: 'converged' | 'failed' };

/**
 * Returns the next step of a brainstorm. It depends on the progress alone, so every replica decides the same. A pass
 * calls its agents one after the other, and resumes at the agent where it was interrupted.
 */
export function nextStep(progress: BrainstormProgress): NextStep {
  if (progress.failure) return { kind: 'await-input', as: 'failed' };
  const { pass } = progress;
  if (pass === undefined) {
    if (progress.verdict?.converged) return { kind: 'await-input', as: 'converged' };
    return { kind: 'begin', iteration: progress.state.meta.iteration + 1 };
  }
  const turn = pass.agents.find(({ status }) => status !== 'completed');
  if (turn === undefined) return { kind: 'merge', iteration: pass.iteration };
  if (turn.status === 'running') return { kind: 'call', turn };
  return { kind: turn.rejections > MOST_REJECTIONS ? 'give-up' : 'announce', turn };
}
