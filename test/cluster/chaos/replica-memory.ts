import { residentBytes } from '../../bench/measure/processes.js';
import type { Parley } from '../../support/parley.js';

const SAMPLE_MS = 500;

/** Memory of one replica from its start to its end, in bytes. */
export interface MemoryOfLife {
  pid: number;
  seconds: number;
  start: number;
  middle: number;
  end: number;
}

/**
 * Samples the resident memory of every replica from its start to its end. The values are zero if the system has no
 * /proc.
 */
export class ReplicaMemory {
  private readonly lives = new Map<number, { from: number; until?: number; samples: number[] }>();
  private readonly timer = setInterval(() => this.sample(), SAMPLE_MS);

  begun({ pid }: Parley): void {
    this.lives.set(pid, { from: performance.now(), samples: [residentBytes(pid)] });
  }

  ended({ pid }: Parley): void {
    const life = this.lives.get(pid);
    if (life) life.until = performance.now();
  }

  /** Ends the sampling. @returns the values of all replicas */
  stop(): MemoryOfLife[] {
    clearInterval(this.timer);
    return [...this.lives].map(([pid, { from, until = performance.now(), samples }]) => ({
      pid,
      seconds: (until - from) / 1000,
      start: samples[0] ?? 0,
      middle: samples[Math.floor(samples.length / 2)] ?? 0,
      end: samples.at(-1) ?? 0,
    }));
  }

  private sample(): void {
    for (const [pid, { until, samples }] of this.lives) {
      const bytes = until === undefined ? residentBytes(pid) : 0;
      if (bytes > 0) samples.push(bytes);
    }
  }
}
