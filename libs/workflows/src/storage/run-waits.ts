import { Injectable } from '@nestjs/common';
import { Database } from '#libs/postgres';
import type { TaskScope } from '#libs/tasks';
import type { RunStatus } from '#libs/workflow-engine';

/** Maximum characters of a question that are returned. */
const LONGEST_QUESTION = 200;
/** Maximum number of questions of a run that are counted. */
const MOST_COUNTED = 100;
/** Maximum place of a run that waits for a slot. */
const MOST_PLACES = 1_000;

/** Wait of a run for a slot: of its workflow (`concurrency`), or of a limit. */
interface SlotWait {
  /** Name of the limit; absent for the `concurrency` of the workflow. */
  rule?: string;
  /** Maximum number of runs that are under way; absent if the limit has only a rate. */
  limit?: number;
  /** Rate of the limit, such as `30/1m`. */
  rate?: string;
  /** Beginning of the value of the key; absent if it is empty. */
  key?: string;
  /** Number of runs that get a slot before this one, plus 1; `MOST_PLACES` also stands for any larger number. */
  place: number;
  since: string;
}

/** Reason why a run waits: a question, a time, or a slot. */
export interface RunWait {
  /** Instance that asks, and the beginning of its question; or that waits for a slot. */
  instance?: string;
  question?: string;
  /** Number of open questions, if there are several. */
  questions?: number;
  /** Time at which the run continues by itself. */
  until?: string;
  slot?: SlotWait;
}

interface WaitRow {
  task_id: string;
  wake_at: Date | null;
  instance: string | null;
  question: string | null;
  questions: number;
  waiting: string | null;
  rule: string | null;
  most: number | null;
  rate: string | null;
  key: string | null;
  place: number | null;
  since: Date | null;
}

/** Reads the reasons why runs wait, with one statement for all runs of a page and lookups by key. */
@Injectable()
export class RunWaits {
  constructor(private readonly database: Database) {}

  /** Returns runs with the reasons why they wait. Runs that do not wait are returned unchanged. */
  async addWaits<R extends { runId: string; status: RunStatus }>(
    runs: readonly R[],
    { tenant, owner }: TaskScope,
  ): Promise<(R & { waitsFor?: RunWait })[]> {
    const open = runs.filter(({ status }) => status === 'input-required' || status === 'running');
    if (open.length === 0) return [...runs];
    const values = [tenant, owner, open.map(({ runId }) => runId), LONGEST_QUESTION, MOST_COUNTED, MOST_PLACES];
    const { rows } = await this.database.reads.queryInTurn<WaitRow>({ tenant, owner }, { text: WAITS, values });
    const found = new Map(rows.map((row) => [row.task_id, toWait(row)]));
    return runs.map((run) => {
      const waitsFor = found.get(run.runId);
      return waitsFor ? { ...run, waitsFor } : run;
    });
  }
}

function toWait(row: WaitRow): RunWait | undefined {
  const { wake_at: until, instance, question, questions } = row;
  const slot = toSlotWait(row);
  if (slot) return { ...(row.waiting !== null && { instance: row.waiting }), slot };
  if (until === null && instance === null) return undefined;
  return {
    ...(instance !== null && { instance }),
    ...(question !== null && { question }),
    ...(questions > 1 && { questions }),
    ...(until !== null && { until: until.toISOString() }),
  };
}

function toSlotWait({ rule, most, rate, key, place, since }: WaitRow): SlotWait | undefined {
  if (since === null) return undefined;
  return {
    ...(rule !== null && { rule }),
    ...(most !== null && { limit: most }),
    ...(rate !== null && { rate }),
    ...(key && { key }),
    place: place ?? 1,
    since: since.toISOString(),
  };
}

// PostgreSQL rejects \u0000 and unpaired surrogates when it reads a member of JSON: such a question has no text here.
// Paired surrogates are stored as characters, not as escapes.
const WAITS = `
  SELECT task.task_id, CASE WHEN task.replica_id IS NULL THEN task.wake_at END AS wake_at, asked.key AS instance,
         asked.question, coalesce(counted.questions, 0) AS questions, slot.waiting, slot.key, slot.since,
         before.place, flow_gate.name AS rule, rate_count || '/' || rate_period AS rate,
         CASE WHEN flow_gate.gate IS NULL THEN slot.most ELSE concurrency END AS most
  FROM unnest($3::text[]) AS wanted (task_id)
  JOIN task ON task.task_id = wanted.task_id AND task.tenant = $1 AND task.owner = $2
    AND task.state NOT IN ('TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED')
  LEFT JOIN LATERAL (
    SELECT key, CASE WHEN body::text !~* '\\\\u(0000|d[89a-f])' THEN left(body ->> 'text', $4) END AS question
    FROM task_question WHERE task_question.task_id = task.task_id ORDER BY since, key LIMIT 1
  ) AS asked ON task.state IN ('TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED')
  LEFT JOIN LATERAL (
    SELECT count(*)::int AS questions
    FROM (SELECT FROM task_question WHERE task_question.task_id = task.task_id LIMIT $5) AS few
  ) AS counted ON asked.key IS NOT NULL
  LEFT JOIN LATERAL (
    SELECT run_slot.*, NULL AS waiting FROM run_slot
    WHERE task.has_run_slot AND run_slot.task_id = task.task_id AND NOT is_held
    UNION ALL
    SELECT run_slot.*, split_part(child.parent_reference, '#', 1) FROM (
      SELECT task_id, parent_reference FROM task AS child
      WHERE parent_task_id = task.task_id AND state = 'TASK_STATE_SUBMITTED' LIMIT $5) AS child
    JOIN run_slot ON run_slot.task_id = child.task_id AND NOT is_held
    LIMIT 1
  ) AS slot ON asked.key IS NULL
  LEFT JOIN flow_gate ON flow_gate.gate = slot.gate
  LEFT JOIN flow_limit ON flow_limit.tenant = flow_gate.tenant AND flow_limit.name = flow_gate.name
  LEFT JOIN LATERAL (
    SELECT count(*)::int AS place
    FROM (SELECT FROM run_slot WHERE run_slot.gate = slot.gate AND NOT is_held
            AND (turn, seq) <= (slot.turn, slot.seq) LIMIT $6) AS few
  ) AS before ON slot.gate IS NOT NULL`;
