export type { Attributes, Span, SpanKind } from './otlp-body.js';
export { Tracing, TracingModule } from './tracing.js';
export { spanIdOf, type SpanKey, turnKey, type TurnTrace } from './turn-trace.js';
