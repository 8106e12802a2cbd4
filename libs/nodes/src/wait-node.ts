import { setTimeout as delay } from 'node:timers/promises';
import type { AgentDeclaration, AgentExecutor, NodeProblem, NodeSpec, NodeType, RequestContext } from '#libs/executor';
import { parseDuration, addMilliseconds, LONGEST_DURATION } from '#libs/expressions';
import { type JsonValue, runEventNote, textStart } from '#libs/protocol';
import { WAIT_CONFIG, waitProblems } from './flow-configs.js';
import { NodeExecutor, type NodeWork, workStep } from './node-executor.js';
import { NodeFailure } from './node-failure.js';
import { filledIn, evaluateTime } from './own-texts.js';
import { typedParts } from './result-parts.js';

/** Milliseconds of a wait beyond which the Task is parked, so that no replica holds it. */
const LONGEST_HELD_MS = 30_000;
/** Maximum delay of a timer of this runtime, in milliseconds. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** Step that records the end of the wait. After a crash, the node waits until the recorded time. */
const WAITING = 'node.waiting';

/** `wait`: waits, and outputs its input. This executor serves the node's own URL; a run waits itself. */
export class WaitNode implements NodeType {
  readonly name = 'wait';
  readonly configSchema = WAIT_CONFIG;

  findProblems(node: NodeSpec): NodeProblem[] {
    return waitProblems(node);
  }

  createExecutor(node: NodeSpec): AgentExecutor {
    return new WaitExecutor(node);
  }
}

class WaitExecutor extends NodeExecutor {
  override readonly recovery = 'restart';
  override readonly declares: AgentDeclaration = { does: 'Waits, and answers with what it was told.' };

  protected override async *performWork(context: RequestContext): NodeWork {
    const until = (await waitedFor(context)) ?? this.#computeEnd(context);
    const noted = workStep(context, WAITING, { until: until.toISOString() });
    yield until.getTime() - Date.now() > LONGEST_HELD_MS ? { ...noted, parks: until } : noted;
    await waitUntilTime(until, context.signal);
    return typedParts(context.userMessage.parts);
  }

  #computeEnd({ userMessage }: RequestContext): Date {
    const { for: duration, until } = this.node.config;
    const now = new Date();
    const end =
      typeof until === 'string' ? evaluateTime(until, userMessage, now) : this.#endAfter(duration, userMessage, now);
    if (end.getTime() - now.getTime() > LONGEST_DURATION) throw new NodeFailure('it would wait for longer than a year');
    return end;
  }

  #endAfter(duration: JsonValue | undefined, message: RequestContext['userMessage'], now: Date): Date {
    const given = filledIn(duration ?? null, this.node, message);
    const milliseconds = parseDuration(given);
    if (milliseconds !== undefined) return addMilliseconds(now, milliseconds);
    throw new NodeFailure(`for is no duration: ${textStart(JSON.stringify(given), 50)}`);
  }
}

/** Returns the end that an earlier execution of this turn recorded. */
async function waitedFor(context: RequestContext): Promise<Date | undefined> {
  const { recovered } = context;
  if (recovered === 0) return undefined;
  for (const event of (await context.readTaskLog()).slice(-recovered).toReversed()) {
    const note = 'statusUpdate' in event ? runEventNote(event.statusUpdate.metadata) : undefined;
    const until = note?.type === WAITING && note.payload['until'];
    if (typeof until === 'string') return new Date(until);
  }
  return undefined;
}

async function waitUntilTime(end: Date, signal: AbortSignal): Promise<void> {
  for (let left = end.getTime() - Date.now(); left > 0; left = end.getTime() - Date.now())
    await delay(Math.min(left, LONGEST_TIMER_MS), undefined, { signal });
}
