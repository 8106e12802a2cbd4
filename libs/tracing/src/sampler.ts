import { ownTraceId, type TraceContext, type TracingConfig } from '#libs/service';

/**
 * Decides whether the spans of a Task's turn are exported. The decision depends only on what every process in the trace
 * knows: the caller's context, else the trace derived from the Task's id.
 */
export type Sampler = (taskId: string, parent: TraceContext | undefined) => boolean;

/** Random digits of a trace id, by which all services sample alike (W3C Trace Context, level 2). */
const RANDOM_DIGITS = 14;
const RANDOM_VALUES = 16 ** RANDOM_DIGITS;

/** Returns the sampler of an OpenTelemetry sampler name. */
export function samplerOf({ sampler, ratio }: Pick<TracingConfig, 'sampler' | 'ratio'>): Sampler {
  const root = rootSamplers(ratio)[sampler.replace('parentbased_', '')] ?? alwaysSample;
  return sampler.startsWith('parentbased_')
    ? (taskId, parent) => (parent ? parent.sampled : root(taskId, parent))
    : root;
}

const alwaysSample = (): boolean => true;

function rootSamplers(ratio: number): Record<string, Sampler> {
  const threshold = (1 - ratio) * RANDOM_VALUES;
  return {
    always_on: alwaysSample,
    always_off: () => false,
    traceidratio: (taskId, parent) =>
      ratio > 0 && (parent ? randomOf(parent.traceId) : ownRandomOf(taskId)) >= threshold,
  };
}

function randomOf(traceId: string): number {
  return Number.parseInt(traceId.slice(-RANDOM_DIGITS), 16);
}

const UUID_LENGTH = 36;

/**
 * Returns `randomOf(ownTraceId(taskId))`. Every Message needs it, so a UUID is parsed in place: hyphen, twelve digits.
 */
function ownRandomOf(taskId: string): number {
  if (taskId.length !== UUID_LENGTH) return randomOf(ownTraceId(taskId));
  return Number.parseInt(taskId.slice(-15, -13) + taskId.slice(-12), 16);
}
