import { type EventLoopUtilization, performance } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { createContext, runInContext } from 'node:vm';
import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { InFlight } from './in-flight.js';

/** So long nothing large must have come before memory is given back. */
const REST_MS = 5_000;
const MEBIBYTE = 1024 ** 2;
/** Less is not worth a collection. */
const WORTH = 32 * MEBIBYTE;
/** The part of the time that the event loop may be busy while memory is given back. */
const AT_REST = 1 / 4;
/** On a larger heap what V8 keeps is a small share, and a collection of all of it would be felt. */
const SMALL_HEAP = 768 * MEBIBYTE;

/** What V8 offers as `gc` (v8/src/extensions/gc-extension.h). */
type Collect = (options: { type: 'major'; flavor: 'last-resort' }) => void;

/** What the memory of the process is judged by. */
export interface ProcessLoad {
  /** Bytes of the heap that are taken from the machine. */
  heapBytes(): number;
  /** The part of the time that the event loop was busy since the last call. */
  utilization(): number;
}

/**
 * Gives memory back to the machine once a flood is over: V8 keeps what its young generation grew to, and what it has not
 * collected, for as long as little is allocated: a hundred megabytes on a heap of 256, three hundred on one of 512. One
 * collection does it, of some fifty milliseconds. It is made where nothing large came for five seconds, in which the
 * event loop was at rest, and
 *
 * - large requests brought 32 MiB since the last one, or
 * - the heap has grown by 32 MiB since, whatever it grew by.
 *
 * On a large heap V8 is left to itself.
 */
@Injectable()
export class MemoryRelease implements OnApplicationBootstrap, OnModuleDestroy {
  private timer?: NodeJS.Timeout;
  /** Of the large requests that there were: at the last look, and when memory was last given back. */
  private seen = 0;
  private released = 0;
  private heapBytes = 0;

  constructor(private readonly inFlight: InFlight) {}

  onApplicationBootstrap(): void {
    if (getHeapStatistics().heap_size_limit <= SMALL_HEAP) this.watch(collectAll, new OwnLoad());
  }

  /** Looks every few seconds from now on, until the module is destroyed. */
  watch(collect: () => void, load: ProcessLoad): void {
    this.heapBytes = load.heapBytes();
    this.timer = setInterval(() => this.look(collect, load), REST_MS).unref();
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }

  /** Collects if there was a flood, and it is over. */
  private look(collect: () => void, load: ProcessLoad): void {
    const { largeBytes } = this.inFlight;
    const utilization = load.utilization();
    const isQuiet = largeBytes === this.seen && utilization <= AT_REST;
    this.seen = largeBytes;
    const heapBytes = load.heapBytes();
    // What V8 gave back by itself is no growth later on.
    this.heapBytes = Math.min(this.heapBytes, heapBytes);
    const wasFlooded = largeBytes - this.released >= WORTH || heapBytes - this.heapBytes >= WORTH;
    if (!isQuiet || !wasFlooded) return;
    collect();
    this.released = largeBytes;
    // What is left is in use: it is not looked for again.
    this.heapBytes = load.heapBytes();
  }
}

/** The load of this process. */
class OwnLoad implements ProcessLoad {
  private last: EventLoopUtilization = performance.eventLoopUtilization();

  heapBytes(): number {
    return getHeapStatistics().total_heap_size;
  }

  utilization(): number {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, this.last);
    this.last = now;
    return utilization;
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
