import { setTimeout as delay } from 'node:timers/promises';
import type { FakeAgent } from './fake-agent.js';
import { after, answers, type FakeBehaviour, when } from './fake-behaviour.js';

/** Agent that works on each Message for a while, and notes on how many it works at once. */
export class CountingAgent {
  /** Texts of the Messages on which the agent works, and of those with which it is done. */
  readonly active = new Set<string>();
  readonly done = new Set<string>();
  most = 0;
  /** Milliseconds at which the agent began its first work and ended its last. */
  private began = Infinity;
  private ended = 0;

  constructor(
    readonly agent: FakeAgent,
    readonly limit: number,
    readonly serviceMs: number,
  ) {
    agent.always(({ text = '' }) => this.work(text));
  }

  /** Share of the time between its first and its last work for which all slots were in use. */
  get share(): number {
    return ((this.done.size / this.limit) * this.serviceMs) / (this.ended - this.began);
  }

  /** Returns the answer after the work. A Message that a recovered run sends again is no further work. */
  private work(text: string): FakeBehaviour {
    const then = answers(`done ${text}`);
    if (this.active.has(text) || this.done.has(text)) return when(() => this.done.has(text), then);
    this.active.add(text);
    this.most = Math.max(this.most, this.active.size);
    this.began = Math.min(this.began, performance.now());
    void delay(this.serviceMs).then(() => {
      this.ended = performance.now();
      this.active.delete(text);
      this.done.add(text);
    });
    return after(this.serviceMs, then);
  }
}
