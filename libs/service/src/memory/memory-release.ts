import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { createContext, runInContext } from 'node:vm';
import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { InFlight } from './in-flight.js';

/** So long nothing large must have come before memory is given back. */
const REST_MS = 5_000;
const MEBIBYTE = 1024 ** 2;
/** Less is not worth a collection. */
const WORTH = 32 * MEBIBYTE;
/** On a larger heap what V8 keeps is a small share, and a collection of all of it would be felt. */
const SMALL_HEAP = 768 * MEBIBYTE;

/** What V8 offers as `gc` (v8/src/extensions/gc-extension.h). */
type Collect = (options: { type: 'major'; flavor: 'last-resort' }) => void;

/**
 * Gives memory back to the machine once a flood of large requests is over: V8 keeps what its young generation grew to,
 * and what it has not collected, for as long as little is allocated: a hundred megabytes on a heap of 256. One collection
 * does it, of some fifty milliseconds. On a large heap V8 is left to itself.
 */
@Injectable()
export class MemoryRelease implements OnApplicationBootstrap, OnModuleDestroy {
  private timer?: NodeJS.Timeout;
  /** Of the large requests that there were: at the last look, and when memory was last given back. */
  private seen = 0;
  private released = 0;

  constructor(private readonly inFlight: InFlight) {}

  onApplicationBootstrap(): void {
    if (getHeapStatistics().heap_size_limit <= SMALL_HEAP) this.watch(collectAll);
  }

  /** Looks every few seconds from now on, until the module is destroyed. */
  watch(collect: () => void): void {
    this.timer = setInterval(() => this.look(collect), REST_MS).unref();
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }

  /** Collects if there was a flood, and nothing large since the last look. */
  private look(collect: () => void): void {
    const { largeBytes } = this.inFlight;
    const isQuiet = largeBytes === this.seen;
    this.seen = largeBytes;
    if (!isQuiet || largeBytes - this.released < WORTH) return;
    this.released = largeBytes;
    collect();
  }
}

let gc: Collect | undefined;

/** Collects whatever can be, and shrinks the heap. Needs no `--expose-gc` of whoever starts the process. */
export function collectAll(): void {
  gc ??= gcOf();
  gc({ type: 'major', flavor: 'last-resort' });
}

function gcOf(): Collect {
  setFlagsFromString('--expose-gc');
  const collect = runInContext('gc', createContext()) as Collect;
  setFlagsFromString('--no-expose-gc');
  return collect;
}
