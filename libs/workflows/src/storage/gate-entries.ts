import { type Database, retryUntilWritable } from '#libs/postgres';
import type { SlotOutcome, SlotSeeker } from '#libs/limits';

/** Maximum number of runs that one statement lets enter a gate. */
const MOST_TOGETHER = 50;

/** Run that enters a gate. */
export interface GateEntry {
  seeker: Pick<SlotSeeker, 'taskId' | 'token'>;
  /** Returns the request of the run. Called right before the statement, and again if it is repeated. */
  describe(): object;
}

interface PendingGateEntry extends GateEntry {
  resolve: (outcome: SlotOutcome) => void;
  reject: (error: unknown) => void;
}

/**
 * Requests for slots of gates. Requests that arrive while a statement for their gate runs share the next one, so that a
 * gate uses one session of this process, and a flood of runs does not wait in memory for a commit of each.
 */
export class GateEntries {
  /** Entries that wait for their statement, by gate. A gate without a running statement is absent. */
  private readonly waiting = new Map<string, PendingGateEntry[]>();

  constructor(private readonly database: Pick<Database, 'pool'>) {}

  /** Requests a slot of a gate. */
  async enterGate(gate: string, entry: GateEntry): Promise<SlotOutcome> {
    const { promise, resolve, reject } = Promise.withResolvers<SlotOutcome>();
    const waiting = this.waiting.get(gate);
    if (waiting) waiting.push({ ...entry, resolve, reject });
    else {
      this.waiting.set(gate, [{ ...entry, resolve, reject }]);
      void this.requestAll(gate);
    }
    return promise;
  }

  /** Requests the slots of all entries of a gate, also of those that arrive meanwhile. Never rejects. */
  private async requestAll(gate: string): Promise<void> {
    for (;;) {
      const together = this.waiting.get(gate)?.splice(0, MOST_TOGETHER) ?? [];
      if (together.length === 0) break;
      await this.requestTogether(gate, together);
    }
    this.waiting.delete(gate);
  }

  /** Requests the slots of entries with one statement; of each alone if that fails. Never rejects. */
  private async requestTogether(gate: string, entries: readonly PendingGateEntry[]): Promise<void> {
    try {
      const outcomes = await this.requestSlots(gate, entries);
      for (const [index, { resolve }] of entries.entries()) resolve(outcomes[index] ?? 'lost');
    } catch (error) {
      if (entries.length === 1) entries[0]!.reject(error);
      else for (const entry of entries) await this.requestTogether(gate, [entry]);
    }
  }

  private async requestSlots(gate: string, entries: readonly PendingGateEntry[]): Promise<SlotOutcome[]> {
    const values = [
      gate,
      entries.map(({ seeker }) => seeker.taskId),
      entries.map(({ seeker }) => seeker.token),
      entries.map((entry) => JSON.stringify(entry.describe())),
    ];
    const { rows } = await retryUntilWritable(() =>
      this.database.pool.query<{ outcome: SlotOutcome }>({ name: 'request-run-slots', text: REQUEST, values }),
    );
    return rows.map(({ outcome }) => outcome);
  }
}

const REQUEST = `
  SELECT request_run_slot(task_id, token, $1, request::json) AS outcome
  FROM unnest($2::text[], $3::text[], $4::text[]) AS sent (task_id, token, request)`;
