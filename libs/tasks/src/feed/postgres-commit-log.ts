import { Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { Database } from '#libs/postgres';
import type { RecordedEvent } from '../fold/task-event.js';
import { ROW_TEXT, toEvents } from '../journal/log-row.js';
import { HEADER_COLUMNS, type HeaderRow, toHeader } from '../store/task-rows.js';
import type { TaskHeader } from '../store/task-store.js';
import { type Commit, CommitLog, type CommitPosition, type CommittedEvent } from './commit-log.js';

const FORGOTTEN_AT_ONCE = 1000;
/** Maximum bytes of a page of commits; a single commit may be larger. */
const PAGE_BYTES = 1024 * 1024;

/** CommitLog on PostgreSQL. The journal's statements write it (see `committedSql`). */
@Injectable()
export class PostgresCommitLog extends CommitLog {
  private readonly pool: Pool;

  constructor(database: Database) {
    super();
    this.pool = database.tunedPool('commits', 2, READ_SETTINGS);
  }

  async readPosition(): Promise<{ position: CommitPosition; at: Date }> {
    const { rows } = await this.pool.query<{ writer: string | null; position: string | null; at: Date }>(POSITION);
    const held = rows.flatMap(({ writer, position }) =>
      writer === null ? [] : [[writer, BigInt(position!)] as const],
    );
    return { position: new Map(held), at: rows[0]!.at };
  }

  async readCommits(after: CommitPosition, limit: number): Promise<Commit[]> {
    const { rows } = await this.pool.query<CommitRow>({
      name: 'commits',
      text: READ,
      values: [[...after.keys()], [...after.values()].map(String), limit],
    });
    const merged = mergeByTime(rows, limit);
    if (merged.length === 0) return [];
    const [logged, headers] = await Promise.all([this.readLoggedRows(merged), this.readHeaders(merged)]);
    const page = merged.slice(0, logged.find(({ text }) => text === null)?.commit);
    const events = eventsOf(logged, headers);
    const bytes = bytesByCommit(logged);
    return page.map((row, index) => toCommit(row, bytes.get(index) ?? 0, events, headers));
  }

  async forgetCommits(before: Date, signal: AbortSignal): Promise<void> {
    const { rows } = await this.pool.query<{ writer: string; position: string }>(
      'SELECT writer, position::text FROM task_writer',
    );
    for (const { writer, position } of rows) {
      for (let gone = FORGOTTEN_AT_ONCE; gone === FORGOTTEN_AT_ONCE && !signal.aborted;) {
        gone = (await this.pool.query(FORGET, [writer, before, FORGOTTEN_AT_ONCE])).rowCount ?? 0;
      }
      if (!signal.aborted) await this.pool.query(FORGET_WRITER, [writer, position, before.getTime()]);
    }
  }

  private async readLoggedRows(commits: readonly CommitRow[]): Promise<LoggedRow[]> {
    const { rows } = await this.pool.query<LoggedRow>({
      name: 'commit-events',
      text: EVENTS,
      values: [
        commits.flatMap((it) => it.task_ids),
        commits.flatMap((it) => it.afters),
        commits.flatMap((it) => it.last_sequences),
        commits.flatMap((it, index) => it.task_ids.map(() => index)),
        PAGE_BYTES,
      ],
    });
    return rows;
  }

  private async readHeaders(commits: readonly CommitRow[]): Promise<Map<string, TaskHeader>> {
    const { rows } = await this.pool.query<HeaderRow>({
      name: 'commit-headers',
      text: `SELECT ${HEADER_COLUMNS} FROM task WHERE task_id = ANY($1::text[])`,
      values: [[...new Set(commits.flatMap((it) => it.task_ids))]],
    });
    return new Map(rows.map((row) => [row.task_id, toHeader(row)]));
  }
}

interface CommitRow {
  writer: string;
  position: string;
  task_ids: string[];
  afters: number[];
  last_sequences: number[];
  committed_at: Date;
}

interface LoggedRow {
  /** Index of the commit that wrote this row, in the list of commits that `readLoggedRows` was given. */
  commit: number;
  task_id: string;
  sequence: number;
  bytes: number;
  /** Text of the log row (see log-row.ts); null if its commit does not fit on the page. */
  text: string | null;
}

/**
 * Merges the commits of all writers by time, and keeps the order of each writer. If more commits of a writer were left
 * unread, later commits of other writers wait for the next page.
 * @param limit maximum number of commits of the result, which is also the number of commits that were read of each
 * writer
 */
function mergeByTime(rows: readonly CommitRow[], limit: number): CommitRow[] {
  const byWriter = new Map<string, CommitRow[]>();
  for (const row of rows) byWriter.set(row.writer, [...(byWriter.get(row.writer) ?? []), row]);
  const full = new Set([...byWriter].flatMap(([writer, its]) => (its.length === limit ? [writer] : [])));
  const merged: CommitRow[] = [];
  while (merged.length < limit && byWriter.size > 0) {
    const first = [...byWriter.values()].reduce((a, b) => (b[0]!.committed_at < a[0]!.committed_at ? b : a));
    const row = first.shift()!;
    merged.push(row);
    if (first.length > 0) continue;
    if (full.has(row.writer)) break;
    byWriter.delete(row.writer);
  }
  return merged;
}

/** Returns the events by Task id and sequence, without those of Tasks that no longer exist. */
function eventsOf(rows: readonly LoggedRow[], headers: Map<string, TaskHeader>): Map<string, RecordedEvent> {
  const found = new Map<string, RecordedEvent>();
  for (const { task_id, sequence, text } of rows) {
    const header = headers.get(task_id);
    if (!header || text === null) continue;
    for (const event of toEvents(header, text, sequence)) found.set(eventKey(task_id, event.sequence), event);
  }
  return found;
}

/** Returns the bytes of each commit's events, by index of the commit. */
function bytesByCommit(rows: readonly LoggedRow[]): Map<number, number> {
  const found = new Map<number, number>();
  for (const { commit, bytes } of rows) found.set(commit, (found.get(commit) ?? 0) + bytes);
  return found;
}

function toCommit(
  row: CommitRow,
  bytes: number,
  events: Map<string, RecordedEvent>,
  headers: Map<string, TaskHeader>,
): Commit {
  const committed: CommittedEvent[] = [];
  let place = 0;
  row.task_ids.forEach((taskId, index) => {
    const header = headers.get(taskId);
    for (let sequence = row.afters[index]! + 1; sequence <= row.last_sequences[index]!; sequence += 1, place += 1) {
      const found = header && events.get(eventKey(taskId, sequence));
      if (found) committed.push(committedEvent(found, header, place));
    }
  });
  return {
    writer: row.writer,
    position: BigInt(row.position),
    committedAt: row.committed_at,
    bytes,
    events: committed,
  };
}

function committedEvent(event: RecordedEvent, header: TaskHeader, place: number): CommittedEvent {
  return Object.defineProperties(event, { header: { value: header }, place: { value: place } }) as CommittedEvent;
}

function eventKey(taskId: string, sequence: number): string {
  return `${taskId}#${sequence}`;
}

/** Planner settings: the statements look up few rows among many by index, whatever the statistics. */
const READ_SETTINGS = { enable_hashjoin: 'off', enable_mergejoin: 'off', enable_seqscan: 'off', jit: 'off' };

// The row of a writer contains the position at which its session began, or its newest position when a replica of the
// previous version was last present.
const POSITION = `
  SELECT held.writer, now() AS at, greatest(held.position, (
    SELECT position FROM task_commit WHERE task_commit.writer = held.writer ORDER BY position DESC LIMIT 1))::text AS position
  FROM (SELECT) AS one LEFT JOIN task_writer AS held ON true`;

const READ = `
  SELECT found.writer, found.position::text, found.task_ids, found.afters, found.last_sequences, found.committed_at
  FROM task_writer AS held
  LEFT JOIN unnest($1::text[], $2::bigint[]) AS seen (writer, position) USING (writer)
  CROSS JOIN LATERAL (
    SELECT * FROM task_commit
    WHERE task_commit.writer = held.writer AND task_commit.position > coalesce(seen.position, 0)
    ORDER BY task_commit.position LIMIT $3
  ) AS found
  ORDER BY found.writer, found.position`;

// The length of a text is known without reading it, so rows beyond the page are not read.
const EVENTS = `
  SELECT commit, task_id, sequence, bytes, CASE WHEN commit = 0 OR reached <= $5 THEN text END AS text
  FROM (
    SELECT *, sum(bytes) OVER (ORDER BY commit) AS reached
    FROM unnest($1::text[], $2::int[], $3::int[], $4::int[]) AS moved (task_id, after, last_sequence, commit)
    CROSS JOIN LATERAL (
      SELECT sequence, ${ROW_TEXT} AS text, octet_length(coalesce(events, payload::text)) AS bytes FROM task_log
      WHERE task_log.task_id = moved.task_id AND sequence > moved.after AND sequence <= moved.last_sequence
    ) AS logged
  ) AS sized
  ORDER BY commit`;

const FORGET = `
  DELETE FROM task_commit USING (
    SELECT writer, position FROM task_commit WHERE writer = $1 ORDER BY position LIMIT $3) AS oldest
  WHERE task_commit.writer = oldest.writer AND task_commit.position = oldest.position
    AND task_commit.committed_at < $2`;

// A returning writer begins at the clock's time, ahead of its earlier positions. A writer that is announcing itself
// locks its row, and has a new position when the lock is released.
const FORGET_WRITER = `
  DELETE FROM task_writer WHERE writer = $1 AND position = $2::bigint AND position < $3::bigint
    AND NOT EXISTS (SELECT FROM task_commit WHERE task_commit.writer = $1)`;
