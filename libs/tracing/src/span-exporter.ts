import { Logger } from '@nestjs/common';
import { Backoff } from '#libs/service';
import type { OtlpBody, Span } from './otlp-body.js';

/** Sends the body of an export. @returns the status of the response; rejects without a response */
export type SendSpans = (body: Uint8Array<ArrayBuffer>) => Promise<number>;

/**
 * Outcome of the attempts to export spans:
 * - `exported`: the receiver accepted them.
 * - `refused`: the receiver refused them, and would refuse them again.
 * - `dropped`: the last attempt failed, or too many spans waited.
 */
export type SpanOutcome = 'exported' | 'refused' | 'dropped';

const MOST_AT_ONCE = 512;
const MOST_WAITING = 8192;
const PAUSE_MS = 500;
/** Maximum number of attempts while the receiver is unreachable or overloaded. */
const TRIES = 4;
const BACKOFF = new Backoff(1_000);

/**
 * Sends spans in batches: the first batch half a second after its first span, one batch at a time. Callers never wait:
 * spans that the receiver does not accept in time are dropped and counted.
 */
export class SpanExporter {
  private readonly logger = new Logger('Tracing');
  /** Bodies of future exports; all but the last are full. */
  private readonly waiting: OtlpBody[] = [];
  private waitingSpans = 0;
  private timer: NodeJS.Timeout | undefined;
  private sending: Promise<void> | undefined;
  private complained = false;
  private hurried = false;

  constructor(
    private readonly send: SendSpans,
    private readonly openBody: () => OtlpBody,
    private readonly counted: (outcome: SpanOutcome, spans: number) => void,
    private readonly pauseMs = PAUSE_MS,
  ) {}

  add(spans: readonly Span[]): void {
    const room = MOST_WAITING - this.waitingSpans;
    if (spans.length > room) this.counted('dropped', spans.length - room);
    const taken = Math.min(spans.length, room);
    for (let index = 0; index < taken; index += 1) this.bodyWithRoom().add(spans[index]!);
    this.waitingSpans += taken;
    this.timer ??= setTimeout(() => void this.flushSpans(), this.pauseMs).unref();
  }

  /**
   * Sends the waiting spans without retries; resolves once they are sent or dropped. Call it at the end of the process.
   */
  async close(): Promise<void> {
    this.hurried = true;
    await this.flushSpans();
    // Flush spans that arrived while an earlier flush ended.
    await this.flushSpans();
  }

  /** Returns the body that takes the next span. */
  private bodyWithRoom(): OtlpBody {
    const last = this.waiting.at(-1);
    if (last && last.size < MOST_AT_ONCE) return last;
    const next = this.openBody();
    this.waiting.push(next);
    return next;
  }

  private flushSpans(): Promise<void> {
    clearTimeout(this.timer);
    this.sending ??= this.sendAll().finally(() => {
      this.sending = undefined;
      this.timer = undefined;
      if (this.waitingSpans > 0) this.timer = setTimeout(() => void this.flushSpans(), this.pauseMs).unref();
    });
    return this.sending;
  }

  /**
   * Sends the first waiting batch, even if it is not full, and then only full batches, because an export costs more
   * than the spans in it. At the end of the process, it sends all batches.
   */
  private async sendAll(): Promise<void> {
    for (let least = 1; this.waitingSpans >= least; least = this.hurried ? 1 : MOST_AT_ONCE) {
      const batch = this.waiting.shift()!;
      this.waitingSpans -= batch.size;
      this.counted(await this.exportBody(batch.finishBody()), batch.size);
    }
  }

  private async exportBody(body: Uint8Array<ArrayBuffer>): Promise<SpanOutcome> {
    for (let tries = 1; ; tries += 1) {
      const status = await this.send(body).catch((error: unknown) => this.warnOnce({ err: error }));
      if (status !== undefined && status < 300) {
        this.complained = false;
        return 'exported';
      }
      if (status !== undefined) this.warnOnce({ status });
      if (status !== undefined && !isPassing(status)) return 'refused';
      if (tries === TRIES || this.hurried) return 'dropped';
      await new Promise((resolve) => setTimeout(resolve, BACKOFF.pauseAfter(tries - 1)).unref());
    }
  }

  /** Logs a failure, unless one was logged since the last export that succeeded. @param why data for the log line */
  private warnOnce(why: object): undefined {
    if (!this.complained)
      this.logger.warn(why, 'Spans could not be exported; they are dropped until the exporter recovers');
    this.complained = true;
  }
}

/** True for the statuses that OTLP calls retryable. */
function isPassing(status: number): boolean {
  return [429, 502, 503, 504].includes(status);
}
