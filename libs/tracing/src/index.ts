export type { Attributes, Span, SpanKind } from './span.js';
export { Tracing } from './tracing.js';
export { TracingModule } from './tracing.module.js';
export { type SpanKey, spanIdOf, turnKey, type TurnTrace } from './turn-trace.js';
