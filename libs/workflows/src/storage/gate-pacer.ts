import type { Database } from '#libs/postgres';

/** Minimum and maximum milliseconds between two statements for one gate. */
const SHORTEST_MS = 5;
const LONGEST_MS = 60_000;
/** Milliseconds until the next attempt while the database is away. */
const RETRY_MS = 1_000;

/** Gate with the runs of this replica that are next in it. */
interface PacedGate {
  runs: Set<string>;
  timer?: NodeJS.Timeout;
}

/**
 * Opens the gates of limits with a rate in time. A gate has one timer, and only while runs on deck wait for it here: the
 * job queue alone would be late by up to its interval between two polls.
 */
export class GatePacer {
  private readonly gates = new Map<string, PacedGate>();

  constructor(private readonly database: Pick<Database, 'pool'>) {}

  /** Paces a gate until the run leaves it. */
  followGate(gate: string, taskId: string): void {
    const paced = this.gates.get(gate) ?? { runs: new Set() };
    this.gates.set(gate, paced);
    paced.runs.add(taskId);
    if (paced.timer === undefined) this.schedule(gate, paced, 0);
  }

  /** Ends the pace of all gates for a run. */
  leaveGates(taskId: string): void {
    for (const [gate, paced] of this.gates) {
      if (!paced.runs.delete(taskId) || paced.runs.size > 0) continue;
      clearTimeout(paced.timer);
      this.gates.delete(gate);
    }
  }

  private schedule(gate: string, paced: PacedGate, pause: number): void {
    const ms = Math.min(Math.max(pause, SHORTEST_MS), LONGEST_MS);
    paced.timer = setTimeout(() => void this.openGate(gate, paced), ms).unref();
  }

  /** Admits the next runs of a gate. Never rejects. */
  private async openGate(gate: string, paced: PacedGate): Promise<void> {
    const pause = await this.readPause(gate).catch(() => RETRY_MS);
    if (this.gates.get(gate) === paced) this.schedule(gate, paced, pause);
  }

  private async readPause(gate: string): Promise<number> {
    const { rows } = await this.database.pool.query<{ pause: number | null }>({
      name: 'pace-gate',
      text: 'SELECT pace_gate($1) AS pause',
      values: [gate],
    });
    return rows[0]?.pause ?? LONGEST_MS;
  }
}
