import { getHeapStatistics } from 'node:v8';
import { z } from 'zod';
import { parseBytes, parseDuration } from './quantities.js';

/** Limits of data in memory on its way into and out of the database. Sizes are the bytes of JSON in UTF-8. */
export interface MemoryConfig {
  /** Maximum bytes in flight: requests, data of executing Tasks, and events that are not durable yet. */
  readonly inFlightBytes: number;
  /** Maximum bytes in flight of one caller; Infinity by default if callers are anonymous. */
  readonly callerInFlightBytes: number;
  /** Maximum bytes of one event of a Task. */
  readonly eventBytes: number;
  /** Maximum bytes of the events that one statement of the journal writes. */
  readonly journalBatchBytes: number;
  /**
   * Maximum total bytes of the Task logs that this process reads for large responses. A log counts from the start of
   * reading until the response is sent.
   */
  readonly answerBytes: number;
  /**
   * Maximum number of nodes that execute at the same time in one level of a run tree (a run, the runs that it calls,
   * and so on). NodeRoom derives the maxima of a caller and of the process from it.
   */
  readonly nodesAtWork: number;
  /**
   * Maximum milliseconds that events may wait without any progress of the journal; then the replica reports itself
   * unready.
   */
  readonly journalStallMs: number;
}

const MEBIBYTE = 1024 ** 2;
/**
 * Maximum of EVENT_LIMIT and JOURNAL_BATCH_LIMIT: a message to PostgreSQL has at most 1 GiB, and a string of V8 half of
 * that.
 */
const MOST = 256 * MEBIBYTE;
const MOST_IN_FLIGHT = 1024 ** 4;
/**
 * Divisor of the heap size for the default of IN_FLIGHT_LIMIT. The rest of the heap holds what is not counted: parsed
 * values, responses, and uncollected garbage.
 */
const HEAP_PER_BYTE = 4;
const LEAST_IN_FLIGHT = 32 * MEBIBYTE;
/**
 * Divisor of the heap size for the default of ANSWER_LIMIT. It leaves memory for the other forms in which a response
 * exists at the same time: rows, parsed values, text and unsent socket data.
 */
const HEAP_PER_ANSWERED_BYTE = 16;
const LEAST_ANSWERS = 8 * MEBIBYTE;
const MAX_STALL_MS = 3_600_000;
const NODES_AT_WORK = 128;
const MOST_NODES_AT_WORK = 10_000;

const byteSize = (most: number) =>
  z
    .string()
    .transform((text) => parseBytes(text) ?? 0)
    .refine(
      (bytes) => bytes >= 1024 && bytes <= most,
      `must be a size such as 512kb or 32mb, from 1kb to ${formatBytes(most)}`,
    );

const stall = z
  .string()
  .transform((text) => parseDuration(text) ?? -1)
  .refine((ms) => ms >= 1000 && ms <= MAX_STALL_MS, 'must be a duration such as 15s, from one second to one hour');

const nodes = z
  .string()
  .refine((text) => /^\d{1,5}$/.test(text), `must be a number from 1 to ${MOST_NODES_AT_WORK}`)
  .transform(Number)
  .refine((count) => count >= 1 && count <= MOST_NODES_AT_WORK, `must be a number from 1 to ${MOST_NODES_AT_WORK}`);

/** Environment variables of `MemoryConfig`. */
export const MEMORY_VARIABLES = {
  IN_FLIGHT_LIMIT: byteSize(MOST_IN_FLIGHT).optional(),
  CALLER_IN_FLIGHT_LIMIT: byteSize(MOST_IN_FLIGHT).optional(),
  EVENT_LIMIT: byteSize(MOST).default(64 * MEBIBYTE),
  JOURNAL_BATCH_LIMIT: byteSize(MOST).default(32 * MEBIBYTE),
  ANSWER_LIMIT: byteSize(MOST_IN_FLIGHT).optional(),
  JOURNAL_STALL_LIMIT: stall.default(15_000),
  NODES_AT_WORK_LIMIT: nodes.default(NODES_AT_WORK),
};

interface MemoryValues {
  IN_FLIGHT_LIMIT?: number;
  CALLER_IN_FLIGHT_LIMIT?: number;
  EVENT_LIMIT: number;
  JOURNAL_BATCH_LIMIT: number;
  ANSWER_LIMIT?: number;
  JOURNAL_STALL_LIMIT: number;
  NODES_AT_WORK_LIMIT: number;
}

/**
 * Returns the memory limits. Unset limits in flight and of responses derive from the heap of this process. The default
 * limit of one caller is half of the bytes in flight if callers have names; anonymous callers have no limit of their
 * own.
 * @param heapBytes the maximum size of V8's heap
 */
export function memoryOf(
  values: MemoryValues,
  callersHaveNames: boolean,
  heapBytes = getHeapStatistics().heap_size_limit,
): MemoryConfig {
  const inFlightBytes = values.IN_FLIGHT_LIMIT ?? Math.max(LEAST_IN_FLIGHT, Math.floor(heapBytes / HEAP_PER_BYTE));
  return {
    inFlightBytes,
    callerInFlightBytes: values.CALLER_IN_FLIGHT_LIMIT ?? (callersHaveNames ? inFlightBytes / 2 : Infinity),
    eventBytes: values.EVENT_LIMIT,
    journalBatchBytes: values.JOURNAL_BATCH_LIMIT,
    answerBytes: values.ANSWER_LIMIT ?? Math.max(LEAST_ANSWERS, Math.floor(heapBytes / HEAP_PER_ANSWERED_BYTE)),
    journalStallMs: values.JOURNAL_STALL_LIMIT,
    nodesAtWork: values.NODES_AT_WORK_LIMIT,
  };
}

function formatBytes(bytes: number): string {
  return bytes % 1024 ** 4 === 0 ? `${bytes / 1024 ** 3}gb` : `${bytes / MEBIBYTE}mb`;
}
