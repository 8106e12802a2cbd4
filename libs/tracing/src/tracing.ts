import { Global, Injectable, Module } from '@nestjs/common';
import { hostname } from 'node:os';
import { OutboundHttp } from '#libs/http-client';
import {
  AppConfig,
  Metrics,
  type OtlpProtocol,
  ownTraceId,
  Shutdown,
  type TraceContext,
  type TracingConfig,
} from '#libs/service';
import { type Attributes, type OtlpBody, OtlpJsonBody, OtlpProtobufBody, type Span } from './otlp-body.js';
import { SpanExporter, type SpanOutcome } from './span-exporter.js';
import { OwnTrace, PassedTrace, spanIdOf, turnKey, type TurnTrace, UnsampledTrace } from './turn-trace.js';

/**
 * Decides whether the spans of a Task's turn are exported. The decision depends only on what every process in the trace
 * knows: the caller's trace context if there is one, else the trace id that is derived from the Task's id.
 */
type Sampler = (taskId: string, parent: TraceContext | undefined) => boolean;

/** Number of random digits in a trace id. All services sample by these digits (W3C Trace Context, level 2). */
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
 * Returns the random digits of the trace id that is derived from a Task's id, as `randomOf(ownTraceId(taskId))` does.
 * Every Message needs them, so a UUID is parsed in place: two digits before its last hyphen, and twelve after it.
 */
function ownRandomOf(taskId: string): number {
  if (taskId.length !== UUID_LENGTH) return randomOf(ownTraceId(taskId));
  return Number.parseInt(taskId.slice(-15, -13) + taskId.slice(-12), 16);
}

const EXPORT_MS = 10_000;

/** Encodings of OTLP over HTTP. */
const ENCODINGS: Readonly<Record<OtlpProtocol, { type: string; Body: new (resource: Attributes) => OtlpBody }>> = {
  'http/json': { type: 'application/json', Body: OtlpJsonBody },
  'http/protobuf': { type: 'application/x-protobuf', Body: OtlpProtobufBody },
};

/** Data of a turn that determine its trace. */
export interface TracedTurn {
  taskId: string;
  /** Sequence number of the first event of the turn. */
  began: number;
  /**
   * Trace context of the call that began the turn, else of the call that created the Task; absent if neither was
   * traced.
   */
  parent?: TraceContext;
}

/**
 * Traces the turns of this process and exports their spans. Without `OTEL_EXPORTER_OTLP_ENDPOINT` no spans are
 * recorded.
 */
@Injectable()
export class Tracing {
  private readonly sampler: Sampler;
  private readonly exporter: SpanExporter | undefined;

  constructor({ tracing }: AppConfig, outbound: OutboundHttp, metrics: Metrics, shutdown: Shutdown) {
    this.sampler = samplerOf(tracing);
    const spans = metrics.counter('parley_spans_total', 'Spans of this replica by what became of them', ['outcome']);
    if (tracing.endpoint === undefined) return;
    const url = `${tracing.endpoint}/v1/traces`;
    const send = outbound.trustingFetch(url);
    const { type, Body } = ENCODINGS[tracing.protocol];
    const headers = { ...tracing.headers, 'content-type': type };
    const postBody = async (body: Uint8Array<ArrayBuffer>): Promise<number> => {
      const signal = AbortSignal.timeout(EXPORT_MS);
      const answer = await send(url, { method: 'POST', headers, body, redirect: 'manual', signal });
      await answer.body?.cancel();
      return answer.status;
    };
    const resource = {
      'service.name': tracing.serviceName,
      'service.instance.id': `${hostname()}:${process.pid}`,
      'telemetry.sdk.language': 'nodejs',
    };
    const countSpans = (outcome: SpanOutcome, number: number): void => spans.inc({ outcome }, number);
    const exporter = new SpanExporter(postBody, () => new Body(resource), countSpans);
    this.exporter = exporter;
    shutdown.registerStep('sessions', () => exporter.close());
  }

  /** Returns the trace of a turn; `undefined` if this service records no spans and the caller sent no trace context. */
  traceTurn({ taskId, began, parent }: TracedTurn): TurnTrace | undefined {
    if (!this.exporter) return parent && new PassedTrace(parent);
    if (!this.sampler(taskId, parent)) return new UnsampledTrace(taskId, parent);
    // A later turn without a caller's trace continues below the first turn, which began the trace.
    const first = began > 1 && !parent ? spanIdOf(taskId, turnKey(1)) : undefined;
    const traceId = parent?.traceId ?? ownTraceId(taskId);
    return new OwnTrace(taskId, traceId, began, parent?.spanId ?? first, parent?.state);
  }

  /** Queues spans for export to the collector. */
  exportSpans(spans: readonly Span[]): void {
    this.exporter?.add(spans);
  }
}

/** Provides traces and their export. Needs ServiceModule and OutboundModule. */
@Global()
@Module({ providers: [Tracing], exports: [Tracing] })
export class TracingModule {}
