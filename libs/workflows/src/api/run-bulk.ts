import { createHash } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { type ApiCall, CallerSlots } from '#libs/access';
import { endedProcessError, Processes } from '#libs/durable';
import { malformedRequest, ProblemError, toProblem } from '#libs/http-server';
import { isTerminalState } from '#libs/protocol';
import { Metrics } from '#libs/service';
import { type RunStatus, runStatus } from '#libs/workflow-engine';
import { type BulkBody, type BulkOutcome, type BulkReport, type BulkRerunBody, MOST_SELECTED } from './run-bulk.dto.js';
import { RunList } from './run-list.js';
import { RunFilterQuery } from './run-query.js';
import { Reruns } from './reruns.js';
import { RUN, Runs } from './runs.js';

/** Maximum number of concurrent bulk actions and exports: for one caller, for one tenant, and for the whole replica. */
const MOST = { caller: 2, tenant: 6, service: 8 };
/** Maximum number of runs of one request that are acted on concurrently. */
const AT_ONCE = 8;
/** Milliseconds after the start of a bulk request when it begins no further action. */
const LONGEST_MS = 30_000;
/** Maximum milliseconds that a request waits for the end of one canceled run. */
const CANCEL_MS = 5_000;
const PAGE = 100;
const NO_TIME = 'the time of the request has ended; repeat it for the rest';
const OWN_RERUN = 'the run is a rerun that a request with this idempotency key started';
const FAULT = 'an error of the service has ended the request; repeat it for the rest';
/** Reason of a pending cancel that is stored already. */
export const STILL_CANCELING = 'the cancel is recorded, and the run has not ended yet';

/** Limits the concurrent bulk actions on runs, and exports of runs. */
@Injectable()
export class BulkSlots extends CallerSlots {
  constructor(metrics: Metrics) {
    super(metrics, {
      most: MOST,
      refusals: {
        caller: `${MOST.caller} actions on several runs, or exports, of yours are under way`,
        tenant: `${MOST.tenant} actions on several runs, or exports, of your tenant are under way`,
        service: 'Too many actions on several runs, or exports, are under way',
      },
      limit: 'bulkActions',
      retryAfterSeconds: 2,
      metrics: {
        taken: { name: 'parley_bulk_actions', help: 'Actions on several runs, and exports, at work in this replica' },
        refused: {
          name: 'parley_bulk_actions_refused_total',
          help: 'Actions on several runs, and exports, refused because too many are under way',
        },
      },
    });
  }

  /**
   * Takes a slot for a call; disposing of the result frees the slot.
   * @throws A2AError RATE_LIMITED, or OVERLOADED with status 503
   */
  takeFor({ scope }: Pick<ApiCall, 'scope'>): Disposable {
    const leave = this.takeSlot({ caller: JSON.stringify([scope.tenant, scope.owner]), tenant: scope.tenant });
    return { [Symbol.dispose]: leave };
  }
}

/**
 * Function that acts on one run. Resolves with the outcome; rejects with an error if the run does not allow the action.
 */
type RunAction = (
  run: { runId: string; status: RunStatus },
  call: ApiCall,
) => Promise<Omit<BulkOutcome, 'runId' | 'status'>>;

/** Filter that selects runs. `statuses` applies only if the filter names no status. */
interface RunSelection {
  filter: RunFilterQuery;
  statuses: string;
}

/**
 * Cancels and reruns several runs in one request, and reports the outcome of each.
 * - A request acts on at most `MOST_SELECTED` runs, `AT_ONCE` at a time, and starts with no further run after
 *   `LONGEST_MS`.
 * - A refusal of one run does not affect the others. An outage ends the action.
 * - A repeated cancel changes nothing.
 * - A rerun request that is repeated with the same idempotency key starts no further run. Nor does it rerun the runs
 *   that the first request started.
 */
@Injectable()
export class BulkRuns {
  private readonly logger = new Logger(BulkRuns.name);

  constructor(
    private readonly processes: Processes,
    private readonly runList: RunList,
    private readonly runs: Runs,
    private readonly reruns: Reruns,
    private readonly slots: BulkSlots,
  ) {}

  /** Cancels the selected runs. @throws ProblemError 400 if the request selects no runs */
  cancelRuns(body: BulkBody, filter: RunFilterQuery, call: ApiCall): Promise<BulkReport> {
    return this.actOnRuns(body, { filter, statuses: 'running,input-required' }, call, async (run, shared) => {
      const { runId, status } = run;
      if (status !== 'canceled' && status !== 'running' && status !== 'input-required')
        throw endedProcessError(RUN, `it is ${status}`);
      if (body.dryRun) return { outcome: 'possible' };
      return this.cancelRun(runId, shared);
    });
  }

  /** Reruns the selected runs, which must have ended. @throws ProblemError 400 if the request selects no runs */
  rerunRuns(body: BulkRerunBody, filter: RunFilterQuery, call: ApiCall, key?: string): Promise<BulkReport> {
    const options = { ...(body.failed && { failed: true }), ...(body.newest && { newest: true }) };
    return this.actOnRuns(body, { filter, statuses: 'completed,failed,canceled' }, call, async ({ runId }, shared) => {
      if (body.dryRun) {
        await this.reruns.checkRerun(runId, options, shared);
        return { outcome: 'possible' };
      }
      const own = key === undefined ? undefined : keyOf(key, runId);
      if (key !== undefined) await this.refuseOwnRerun(runId, key, shared);
      const started = await this.reruns.startRerun(runId, options, shared, own);
      return { outcome: 'done', newRunId: started.runId };
    });
  }

  /**
   * Rejects a run that an earlier request with the same key started as a rerun. Once that run has ended, the filter of
   * the repeated request may select it, too.
   * @throws ProblemError 409 for such a run
   */
  private async refuseOwnRerun(runId: string, key: string, call: ApiCall): Promise<void> {
    const start = await this.reruns.findStart(runId, call);
    if (start && start.key === keyOf(key, start.origin)) throw new ProblemError(409, OWN_RERUN);
  }

  private async actOnRuns(body: BulkBody, selection: RunSelection, call: ApiCall, act: RunAction): Promise<BulkReport> {
    using _slot = this.slots.takeFor(call);
    const shared = shareDeparture(call);
    const { ids, more } = await this.selectRuns(body, selection, shared);
    const endsAt = performance.now() + LONGEST_MS;
    const runs: BulkOutcome[] = ids.map((runId) => ({ runId, outcome: 'pending', reason: NO_TIME }));
    const open = runs.entries();
    const faults: unknown[] = [];
    const actInTurn = async (): Promise<void> => {
      for (const [place, { runId }] of open) {
        if (faults.length > 0 || performance.now() > endsAt) return;
        runs[place] = await this.actOnRun(runId, shared, act);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, () => actInTurn().catch((error: unknown) => faults.push(error))));
    return { dryRun: body.dryRun ?? false, runs: faults.length > 0 ? this.reportFault(faults[0], runs) : runs, more };
  }

  /**
   * Returns the outcomes of an action that an outage has interrupted. Runs that were not reached are marked, so that
   * the caller can repeat the action for them alone.
   * @throws the outage if the action has changed no run
   */
  private reportFault(fault: unknown, runs: readonly BulkOutcome[]): BulkOutcome[] {
    if (!runs.some(({ outcome }) => outcome === 'done')) throw fault;
    this.logger.error({ err: fault }, 'An action on several runs was ended by an error');
    return runs.map((run) => (run.reason === NO_TIME ? { ...run, reason: FAULT } : run));
  }

  private async actOnRun(runId: string, call: ApiCall, act: RunAction): Promise<BulkOutcome> {
    let status: RunStatus | undefined;
    try {
      const header = await this.processes.findHeader(RUN, runId, call.scope);
      status = runStatus(header.state);
      return { runId, status, ...(await act({ runId, status }, call)) };
    } catch (error) {
      const problem = toProblem(error);
      // An outage concerns all runs, so it ends the whole action.
      if (problem.status >= 500) throw error;
      return { runId, ...(status && { status }), outcome: 'refused', reason: problem.detail };
    }
  }

  private async cancelRun(runId: string, call: ApiCall): Promise<Omit<BulkOutcome, 'runId'>> {
    const limit = AbortSignal.timeout(CANCEL_MS);
    const whenAnswered = (done: () => void): boolean => {
      limit.addEventListener('abort', done, { once: true });
      return call.whenAnswered?.(done) ?? true;
    };
    try {
      await this.runs.stopRun(runId, { ...call, whenAnswered });
    } catch (error) {
      if (limit.aborted) return { outcome: 'pending', reason: STILL_CANCELING };
      throw error;
    }
    const { state } = await this.processes.findHeader(RUN, runId, call.scope);
    if (!isTerminalState(state)) return { outcome: 'pending', reason: STILL_CANCELING };
    const status = runStatus(state);
    if (status !== 'canceled') throw endedProcessError(RUN, `it is ${status}`);
    return { outcome: 'done' };
  }

  /** Returns the ids of the selected runs, each once. @throws ProblemError 400 if the request selects no runs */
  private async selectRuns(
    { ids }: BulkBody,
    { filter, statuses }: RunSelection,
    call: ApiCall,
  ): Promise<{ ids: string[]; more: boolean }> {
    // An empty text is no filter: it would select all runs.
    const isFiltered = FILTERS.some((name) => filter[name] !== undefined && filter[name] !== '');
    if (ids && isFiltered) throw malformedRequest({ path: 'ids', detail: 'cannot be combined with a filter' });
    if (ids) return { ids: [...new Set(ids)], more: false };
    if (!isFiltered)
      throw malformedRequest({ path: 'ids', detail: `is missing; name runs, or select them by ${FILTERS.join(', ')}` });
    // Other runs would be refused one by one, and would take the places of those that can be acted on.
    const open = Object.assign(new RunFilterQuery(), filter, { status: filter.status || statuses });
    const found = new Set<string>();
    let isAll = false;
    for await (const { runs, isLast } of this.runList.listPages(open, PAGE, call)) {
      isAll = isLast;
      for (const { runId } of runs) {
        if (found.size === MOST_SELECTED) return { ids: [...found], more: true };
        found.add(runId);
      }
    }
    return { ids: [...found], more: !isAll };
  }
}

const FILTERS = ['workflow', 'parent', 'status', 'q', 'search', 'since', 'until', 'cause'] as const;

/**
 * Returns a copy of a call that can be used for many runs. The copy registers only one listener for the caller's
 * disconnect at the response, however many runs wait for the disconnect.
 */
export function shareDeparture(call: ApiCall): ApiCall {
  const waiting = new Set<() => void>();
  let isGone = false;
  const reportGone = (): void => {
    isGone = true;
    for (const onGone of waiting) onGone();
  };
  if (call.whenAnswered && !call.whenAnswered(reportGone)) isGone = true;
  return { ...call, whenAnswered: (done) => !isGone && waiting.add(done) === waiting };
}

/** Returns the idempotency key for the rerun of one run, derived from the key of the whole request. */
function keyOf(key: string, runId: string): string {
  return `bulk-${createHash('sha256').update(`${key}\n${runId}`).digest('base64url')}`;
}
