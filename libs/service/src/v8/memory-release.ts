import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { type EventLoopUtilization, performance } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { createContext, runInContext } from 'node:vm';
import { InFlight } from '../memory/in-flight.js';

/** Milliseconds without large requests before memory is released. */
const REST_MS = 5_000;
const MEBIBYTE = 1024 ** 2;
/** Minimum growth of the heap, in bytes, that justifies a garbage collection. */
const WORTH = 32 * MEBIBYTE;
/** Maximum utilization of the event loop for a release. */
const AT_REST = 1 / 4;
/** Maximum heap limit: on a larger heap V8's surplus is a small share, and a full collection would be noticeable. */
const SMALL_HEAP = 768 * MEBIBYTE;

/** V8's `gc` function (v8/src/extensions/gc-extension.h). */
type Collect = (options: { type: 'major'; flavor: 'last-resort' }) => void;

/** Measurements of a process that MemoryRelease needs to decide if it collects garbage. */
export interface ProcessLoad {
  /** Returns the bytes of the heap that are committed from the system. */
  heapBytes(): number;
  /** Returns the utilization of the event loop, from 0 to 1, since the previous call of this method. */
  readUtilization(): number;
}

/**
 * Releases memory to the system after a flood of requests. V8 keeps the size of its young generation, and garbage, as
 * long as little is allocated: 100 MB on a heap of 256 MB, 300 MB on a heap of 512 MB. One full collection of some
 * fifty milliseconds releases that memory.
 *
 * The collection runs after five seconds without large requests and with an idle event loop, if
 *
 * - large requests brought 32 MiB since the last collection, or
 * - the heap has grown by 32 MiB since then, for any reason.
 *
 * The collection never runs on a large heap.
 */
@Injectable()
export class MemoryRelease implements OnApplicationBootstrap, OnModuleDestroy {
  private timer?: NodeJS.Timeout;
  /** Value of `InFlight.largeBytes` at the last check. */
  private seen = 0;
  /** Value of `InFlight.largeBytes` at the last collection. */
  private released = 0;
  /** Smallest heap since the last collection, in bytes. */
  private heapBytes = 0;

  constructor(private readonly inFlight: InFlight) {}

  onApplicationBootstrap(): void {
    if (getHeapStatistics().heap_size_limit <= SMALL_HEAP) this.watchHeap(collectAll, new OwnLoad());
  }

  /** Checks every five seconds until the module is destroyed. */
  watchHeap(collect: () => void, load: ProcessLoad): void {
    this.heapBytes = load.heapBytes();
    this.timer = setInterval(() => this.collectIfQuiet(collect, load), REST_MS).unref();
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }

  /** Collects garbage if a flood of requests is over. */
  private collectIfQuiet(collect: () => void, load: ProcessLoad): void {
    const { largeBytes } = this.inFlight;
    const utilization = load.readUtilization();
    const isQuiet = largeBytes === this.seen && utilization <= AT_REST;
    this.seen = largeBytes;
    const heapBytes = load.heapBytes();
    // Memory that V8 released by itself must not count as growth later.
    this.heapBytes = Math.min(this.heapBytes, heapBytes);
    const wasFlooded = largeBytes - this.released >= WORTH || heapBytes - this.heapBytes >= WORTH;
    if (!isQuiet || !wasFlooded) return;
    collect();
    this.released = largeBytes;
    // The remaining memory is in use, so it does not count as growth again.
    this.heapBytes = load.heapBytes();
  }
}

/** Processor and memory load of this process. */
class OwnLoad implements ProcessLoad {
  private last: EventLoopUtilization = performance.eventLoopUtilization();

  heapBytes(): number {
    return getHeapStatistics().total_heap_size;
  }

  readUtilization(): number {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, this.last);
    this.last = now;
    return utilization;
  }
}

let gc: Collect | undefined;

/** Collects all garbage and shrinks the heap. Does not require the process to start with `--expose-gc`. */
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
