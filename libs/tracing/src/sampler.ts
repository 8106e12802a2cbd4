import type { TraceContext, TracingConfig } from '#libs/service';

/** Whether the spans of a trace are exported. It asks only what every process knows that takes part in the trace. */
export type Sampler = (traceId: string, parent: TraceContext | undefined) => boolean;

/** The bits of a trace id that are random, by which all services sample alike (W3C Trace Context, level 2). */
const RANDOM_DIGITS = 14;
const RANDOM_VALUES = 16 ** RANDOM_DIGITS;

/** What OpenTelemetry calls a sampler. */
export function samplerOf({ sampler, ratio }: Pick<TracingConfig, 'sampler' | 'ratio'>): Sampler {
  const root = roots(ratio)[sampler.replace('parentbased_', '')] ?? always;
  return sampler.startsWith('parentbased_')
    ? (traceId, parent) => (parent ? parent.sampled : root(traceId))
    : (traceId) => root(traceId);
}

const always = (): boolean => true;

function roots(ratio: number): Record<string, (traceId: string) => boolean> {
  const threshold = (1 - ratio) * RANDOM_VALUES;
  return {
    always_on: always,
    always_off: () => false,
    traceidratio: (traceId) => ratio > 0 && Number.parseInt(traceId.slice(-RANDOM_DIGITS), 16) >= threshold,
  };
}
