import { CLOCK_SHIFT } from './clock-shift.js';
import { COMMIT_STALL } from './commit-stall.js';
import { CUT, SESSIONS } from './connection-faults.js';
import { DISK_FULL, SLOW_DISK } from './disk-faults.js';
import type { FaultKind } from './fault-kind.js';
import { HELD_SNAPSHOT } from './held-snapshot.js';
import { ONE_WAY_CUT } from './one-way-cut.js';
import { FREEZE, KILL, TERMINATE } from './process-faults.js';
import { SERVER_CRASH } from './server-crash.js';
import { VERSION_CHANGE } from './version-change.js';

/** Kinds of faults that a random trial may cause, except the loss of a leader (see FailoverDriver). */
export const FAULT_KINDS: readonly FaultKind[] = [
  KILL,
  CUT,
  FREEZE,
  SESSIONS,
  SERVER_CRASH,
  TERMINATE,
  COMMIT_STALL,
  HELD_SNAPSHOT,
  CLOCK_SHIFT,
  ONE_WAY_CUT,
  DISK_FULL,
  SLOW_DISK,
  VERSION_CHANGE,
];

/** Kinds of faults that require the trial's database to be a single server. */
export const SERVER_FAULTS: readonly FaultKind[] = [SERVER_CRASH, COMMIT_STALL, DISK_FULL, SLOW_DISK];
