import type { FastifyReply } from 'fastify';
import { ProblemError } from '#libs/http-server';
import { A2AError } from '#libs/protocol';
import type { Metrics } from '#libs/service';
import type { Caller } from './caller.js';
import { CallerSlots, limitName, RateMeter, setRetryAfter, type SlotOwner, type SlotRules } from './caller-limits.js';

/** Kind of trial: a call that a person starts from the settings, outside of any Task. */
interface TrialKind {
  /** Noun for the trials in the plural, as refusals and metrics say it: `tests of models`. */
  readonly plural: string;
  /** Name of the exceeded limit, for the text of the refusal. */
  readonly limit: string;
  /** Name of the gauge; the counter of refusals has this name with `_refused_total`. */
  readonly metric: string;
}

/** Maximum number of concurrent trials of one kind, for each replica. */
const MOST_TRIALS = { caller: 2, tenant: 4, service: 8 } as const;

const MINUTE_MS = 60_000;
/** Maximum number of trials of one kind in a minute: of a caller, and of all callers of a replica. */
const MOST_IN_MINUTE = { caller: 20, service: 120 } as const;

/** Number of callers in memory at which idle callers are removed before a new caller is added. */
const MOST_METERS = 1_000;

/**
 * Limits the trials of one kind, so that no caller floods a provider or a server through them.
 *
 * - A caller has at most 2 at a time, its tenant 4, and a replica 8.
 * - A caller may begin 20 in a minute, and all callers of a replica 120.
 */
export class TrialSlots extends CallerSlots {
  private readonly meters = new Map<string, RateMeter>();
  private readonly all = new RateMeter({ requests: MOST_IN_MINUTE.service, perMs: MINUTE_MS });

  constructor(
    metrics: Metrics,
    private readonly kind: TrialKind,
    private readonly now: () => number = () => performance.now(),
  ) {
    super(metrics, rulesOf(kind));
  }

  /**
   * Takes a slot as CallerSlots does, after which the trial counts toward MOST_IN_MINUTE.
   * @throws A2AError also RATE_LIMITED if the caller, or all callers of the replica together, have begun too many
   *   trials in a minute
   */
  override takeSlot(owner: SlotOwner): () => void {
    const freeSlot = super.takeSlot(owner);
    const waitMs = this.meterOf(owner.caller).takeToken(this.now()) || this.all.takeToken(this.now());
    if (waitMs === 0) return freeSlot;
    freeSlot();
    throw new A2AError('RATE_LIMITED', {
      message: `Too many ${this.kind.plural} in a minute; try again later`,
      metadata: { limit: this.kind.limit, retryAfterSeconds: String(Math.ceil(waitMs / 1000)) },
      detailReason: 'RATE_LIMITED',
    });
  }

  private meterOf(caller: string): RateMeter {
    const known = this.meters.get(caller);
    if (known) return known;
    if (this.meters.size >= MOST_METERS) {
      for (const [who, meter] of this.meters) if (meter.isIdle(this.now())) this.meters.delete(who);
    }
    const meter = new RateMeter({ requests: MOST_IN_MINUTE.caller, perMs: MINUTE_MS });
    this.meters.set(caller, meter);
    return meter;
  }
}

/** Request of a caller for a trial slot. */
interface TrialRequest {
  caller: Caller;
  reply: FastifyReply;
  /** Signal that aborts when the replica shuts down. */
  stopped: AbortSignal;
}

/**
 * Runs a trial in a slot and sends its result with status 200. The signal of `act` aborts if the client leaves or the
 * replica shuts down.
 * @throws A2AError RATE_LIMITED or OVERLOADED, with `Retry-After` in the reply
 */
export async function sendTrial(
  slots: TrialSlots,
  { caller, reply, stopped }: TrialRequest,
  act: (signal: AbortSignal) => Promise<object>,
): Promise<void> {
  const freeSlot = takeSlotOf(slots, caller, reply);
  const left = new AbortController();
  const onClose = (): void => left.abort();
  reply.raw.once('close', onClose);
  try {
    void reply.status(200).send(await act(AbortSignal.any([left.signal, stopped])));
  } catch (error) {
    // Without a client no answer is sent.
    if (left.signal.aborted) reply.hijack();
    else throw stopped.aborted ? new ProblemError(503, 'The service is about to stop') : error;
  } finally {
    reply.raw.off('close', onClose);
    freeSlot();
  }
}

function takeSlotOf(slots: TrialSlots, caller: Caller, reply: FastifyReply): () => void {
  try {
    const who = limitName(caller, reply.request.raw.socket.remoteAddress);
    return slots.takeSlot({ caller: who, tenant: caller.tenant });
  } catch (error) {
    setRetryAfter(error, reply);
    throw error;
  }
}

function rulesOf({ plural, limit, metric }: TrialKind): SlotRules {
  return {
    most: MOST_TRIALS,
    refusals: {
      caller: `A caller may have ${MOST_TRIALS.caller} ${plural} at a time`,
      tenant: `The callers of a tenant may have ${MOST_TRIALS.tenant} ${plural} at a time`,
      service: `Too many ${plural} are under way`,
    },
    limit,
    retryAfterSeconds: 5,
    metrics: {
      taken: { name: metric, help: `Number of ${plural} under way` },
      refused: { name: `${metric}_refused_total`, help: `Number of refused ${plural}` },
    },
  };
}
