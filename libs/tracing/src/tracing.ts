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

/** What a turn of a Task knows of its trace. */
export interface TracedTurn {
  taskId: string;
  /** The sequence of the event that it begins with. */
  began: number;
  /** What the call that began it said, else what the call that made the Task said; absent where neither did. */
  parent?: TraceContext;
}

/** Traces of this process's turns, and where their spans go. Without `OTEL_EXPORTER_OTLP_ENDPOINT` there are no spans. */
@Injectable()
export class Tracing {
  private readonly sampler: Sampler;
  private readonly exporter: SpanExporter | undefined;

  constructor({ tracing }: AppConfig, outbound: OutboundHttp, metrics: Metrics, shutdown: Shutdown) {
    this.sampler = samplerOf(tracing);
    const spans = metrics.counter('parley_spans_total', 'Spans of this replica by what became of them', ['outcome']);
    if (tracing.endpoint === undefined) return;
    const url = `${tracing.endpoint}/v1/traces`;
    const send = outbound.trusting(url);
    const { type, Body } = ENCODINGS[tracing.protocol];
    const headers = { ...tracing.headers, 'content-type': type };
    const post = async (body: Uint8Array<ArrayBuffer>): Promise<number> => {
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
    const count = (outcome: SpanOutcome, number: number): void => spans.inc({ outcome }, number);
    const exporter = new SpanExporter(post, () => new Body(resource), count);
    this.exporter = exporter;
    shutdown.register('sessions', () => exporter.close());
  }

  /** The trace of a turn; `undefined` where nobody traces, here or where the call came from. */
  turn({ taskId, began, parent }: TracedTurn): TurnTrace | undefined {
    if (!this.exporter) return parent && new PassedTrace(parent);
    if (!this.sampler(taskId, parent)) return new UnsampledTrace(taskId, parent);
    // A turn that nobody traced for goes on below the first one, which began the trace.
    const first = began > 1 && !parent ? spanIdOf(taskId, turnKey(1)) : undefined;
    const traceId = parent?.traceId ?? ownTraceId(taskId);
    return new OwnTrace(taskId, traceId, began, parent?.spanId ?? first, parent?.state);
  }

  /** Sends spans, some time soon. */
  export(spans: readonly Span[]): void {
    this.exporter?.add(spans);
  }
}
