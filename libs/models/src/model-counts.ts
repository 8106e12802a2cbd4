import type { Metrics } from '#libs/service';
import type { Model, ModelCall, ModelEvent } from './model.js';

const MOST_NAMES = 200;

/**
 * Counts the tokens and failures of models. After the first 200 names of a process, further names are counted as
 * `other`.
 */
export class ModelCounts {
  private readonly names = new Set<string>();
  private readonly tokens;
  private readonly errors;

  constructor(metrics: Metrics) {
    this.tokens = metrics.counter('parley_model_tokens_total', 'Tokens of model calls of this replica', [
      'model',
      'direction',
    ]);
    this.errors = metrics.counter('parley_model_errors_total', 'Model calls of this replica that failed', ['model']);
  }

  /** Returns a model that counts the calls of `inner`. */
  countModel(inner: Model): Model {
    const { name, inputModes, provider } = inner;
    return { name, inputModes, ...(provider && { provider }), streamAnswer: (call) => this.streamCounted(inner, call) };
  }

  private async *streamCounted(inner: Model, call: ModelCall): AsyncIterable<ModelEvent> {
    const model = this.metricLabel(inner.name);
    try {
      for await (const event of inner.streamAnswer(call)) {
        if ('end' in event && event.end.usage) {
          this.tokens.inc({ model, direction: 'input' }, event.end.usage.inputTokens);
          this.tokens.inc({ model, direction: 'output' }, event.end.usage.outputTokens);
        }
        yield event;
      }
    } catch (error) {
      if (!call.signal.aborted) this.errors.inc({ model });
      throw error;
    }
  }

  private metricLabel(name: string): string {
    if (this.names.size < MOST_NAMES) this.names.add(name);
    return this.names.has(name) ? name : 'other';
  }
}
