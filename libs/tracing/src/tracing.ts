import { hostname } from 'node:os';
import { Injectable } from '@nestjs/common';
import { OutboundHttp } from '#libs/outbound';
import { AppConfig, Metrics, type OtlpProtocol, ownTraceId, Shutdown, type TraceContext } from '#libs/service';
import type { OtlpBody } from './otlp-body.js';
import { OtlpJsonBody } from './otlp-json.js';
import { OtlpProtobufBody } from './otlp-protobuf.js';
import { samplerOf, type Sampler } from './sampler.js';
import type { Attributes, Span } from './span.js';
import { SpanExporter, type SpanOutcome } from './span-exporter.js';
import { OwnTrace, PassedTrace, spanIdOf, turnKey, type TurnTrace, UnsampledTrace } from './turn-trace.js';

const EXPORT_MS = 10_000;

/** Encodings of OTLP over HTTP. */
const ENCODINGS: Readonly<Record<OtlpProtocol, { type: string; Body: new (resource: Attributes) => OtlpBody }>> = {
  'http/json': { type: 'application/json', Body: OtlpJsonBody },
  'http/protobuf': { type: 'application/x-protobuf', Body: OtlpProtobufBody },
};

/** Data of a turn that determine its trace. */
export interface TracedTurn {
  taskId: string;
  /** Sequence of the first event of the turn. */
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

  /** Returns the trace of a turn; `undefined` if neither this service nor the caller traces. */
  traceTurn({ taskId, began, parent }: TracedTurn): TurnTrace | undefined {
    if (!this.exporter) return parent && new PassedTrace(parent);
    if (!this.sampler(taskId, parent)) return new UnsampledTrace(taskId, parent);
    // A later turn without a caller's trace continues below the first turn, which began the trace.
    const first = began > 1 && !parent ? spanIdOf(taskId, turnKey(1)) : undefined;
    const traceId = parent?.traceId ?? ownTraceId(taskId);
    return new OwnTrace(taskId, traceId, began, parent?.spanId ?? first, parent?.state);
  }

  /** Queues spans for export. */
  exportSpans(spans: readonly Span[]): void {
    this.exporter?.add(spans);
  }
}
