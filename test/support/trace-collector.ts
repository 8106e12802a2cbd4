import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { readOtlpProtobuf } from './otlp-protobuf.js';
import { until } from './until.js';

/** Span in the JSON encoding of OTLP. */
export interface CollectedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  traceState?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: Record<string, unknown>;
  status?: { code?: number };
  links: { traceId: string; spanId: string }[];
  service: string;
}

interface KeyValue {
  key: string;
  value: Record<string, unknown>;
}

interface ExportBody {
  resourceSpans: {
    resource: { attributes: KeyValue[] };
    scopeSpans: {
      spans: (Omit<CollectedSpan, 'attributes' | 'links'> & {
        attributes: KeyValue[];
        links?: CollectedSpan['links'];
      })[];
    }[];
  }[];
}

/** Receiver of OTLP over HTTP, in both encodings. It records every received span, including repeated ones. */
export class TraceCollector {
  readonly all: CollectedSpan[] = [];
  readonly headers: IncomingHttpHeaders[] = [];

  private constructor(private readonly server: Server) {}

  static async start(): Promise<TraceCollector> {
    const server = createServer();
    const collector = new TraceCollector(server);
    server.on('request', (request, response) => {
      void collector.answer(request, response).catch(() => response.destroy());
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return collector;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Returns the spans of a trace, each once. */
  of(traceId: string): CollectedSpan[] {
    return [...new Map(this.all.filter((it) => it.traceId === traceId).map((it) => [it.spanId, it])).values()];
  }

  /** Waits until a trace has a span for each of these names, and returns the spans. */
  async until(traceId: string, names: readonly string[]): Promise<CollectedSpan[]> {
    const found = await until(
      () => {
        const spans = this.of(traceId);
        return names.every((name) => spans.some((span) => span.name === name)) && spans;
      },
      { what: `spans ${names.join(', ')}` },
    ).catch((error: Error) => {
      throw new Error(`${error.message}; there are ${JSON.stringify(this.of(traceId).map(({ name }) => name))}`);
    });
    return found;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const isExport = request.url === '/v1/traces';
    const isJson = request.headers['content-type'] === 'application/json';
    this.headers.push(request.headers);
    if (isExport) this.take((isJson ? JSON.parse(body.toString()) : readOtlpProtobuf(body)) as ExportBody);
    // An empty answer in the encoding of the request.
    response.writeHead(isExport ? 200 : 404, { 'content-type': request.headers['content-type'] });
    response.end(isJson ? '{}' : '');
  }

  private take({ resourceSpans }: ExportBody): void {
    for (const { resource, scopeSpans } of resourceSpans) {
      const service = String(values(resource.attributes)['service.name']);
      for (const { spans } of scopeSpans)
        for (const span of spans)
          this.all.push({ ...span, links: span.links ?? [], attributes: values(span.attributes), service });
    }
  }
}

/** Returns the spans whose parent is not in the list. */
export function orphans(spans: readonly CollectedSpan[], root?: string): CollectedSpan[] {
  const known = new Set([...spans.map(({ spanId }) => spanId), root]);
  return spans.filter(({ parentSpanId }) => parentSpanId !== undefined && !known.has(parentSpanId));
}

function values(attributes: readonly KeyValue[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
