import type { QueryConfig } from 'pg';
import { LOG_TEXT, OF_ARTIFACTS } from './log-row.js';
import { HEADER_COLUMNS } from './task-rows.js';
import { LONG_LOG } from './task-snapshot.js';
import type { RevisionPrecondition, TaskScope } from './task-store.js';

/** Maximum bytes of a short log, which is read with its Task's row. */
const FEW_BYTES = 64 * 1024;
/** Factor by which rows may exceed the limit without Artifacts, since Artifacts may share rows with other events. */
const MOST_BESIDE = 4;

/** Task to read by its id. */
export interface WantedTask {
  taskId: string;
  scope: TaskScope | undefined;
  /** Condition that must hold for the Task to be found, if set. */
  premise: RevisionPrecondition | undefined;
}

export const STORED_COLUMNS = `${HEADER_COLUMNS}, size.log_bytes, size.artifact_bytes, log.events,
  task.log_bytes IS NULL AS measured, snapshot.folded, snapshot.artifacts`;

/** Returns SQL joins that measure unknown sizes and read a short log or its snapshot. */
export function withLog(fewBytes: number, artifacts: boolean): string {
  const unlessMuchBeside = `CASE WHEN sum(octet_length(events)) > ${MOST_BESIDE * fewBytes} THEN NULL ELSE ${LOG_TEXT} END`;
  const isSmall = `size.log_bytes ${artifacts ? '' : '- size.artifact_bytes'} <= ${fewBytes}`;
  return `
    CROSS JOIN LATERAL (
      SELECT coalesce(task.log_bytes, task_log_bytes(task.task_id)) AS log_bytes,
             coalesce(task.artifact_bytes, task_log_bytes(task.task_id, true)) AS artifact_bytes
      OFFSET 0
    ) AS size
    CROSS JOIN LATERAL (
      SELECT ${artifacts ? LOG_TEXT : unlessMuchBeside} AS events
      FROM task_log
      WHERE task.last_sequence <= ${LONG_LOG} AND ${isSmall}
        AND task_log.task_id = task.task_id AND sequence <= task.last_sequence
        ${artifacts ? '' : `AND NOT ${OF_ARTIFACTS}`}
    ) AS log
    LEFT JOIN LATERAL (
      SELECT kept.task::text AS folded, ${artifacts ? 'kept.artifacts::text' : 'NULL'} AS artifacts
      FROM task_snapshot AS kept
      WHERE task.last_sequence > ${LONG_LOG} AND ${isSmall}
        AND kept.task_id = task.task_id AND kept.sequence = task.last_sequence
    ) AS snapshot ON true`;
}

/**
 * Returns the statement for the rows of wanted Tasks, with `place` from 1 if there are several. A single Task, the
 * usual case under light load, has a statement without arrays, which is cheaper to plan.
 */
export function wantedStatement(wanted: readonly WantedTask[]): QueryConfig {
  const [only, another] = wanted;
  return only && !another ? statementOfOne(only) : statementOfMany(wanted);
}

function statementOfOne({ taskId, scope, premise }: WantedTask): QueryConfig {
  const values = [taskId, scope?.tenant ?? null, scope?.owner ?? null];
  if (!premise) return { name: 'task-stored', text: ONE, values };
  values.push(premise.tenant, premise.name, premise.version);
  return { name: 'task-stored-on', text: ONE_ON, values };
}

function statementOfMany(wanted: readonly WantedTask[]): QueryConfig {
  const tasks = [
    wanted.map(({ taskId }) => taskId),
    wanted.map(({ scope }) => scope?.tenant ?? null),
    wanted.map(({ scope }) => scope?.owner ?? null),
  ];
  const premises = [...new Set(wanted.flatMap(({ premise }) => premise ?? []))];
  if (premises.length === 0) return { name: 'tasks-stored', text: MANY, values: tasks };
  const values = [
    ...tasks,
    wanted.map(({ premise }) => (premise ? premises.indexOf(premise) + 1 : null)),
    premises.map(({ tenant }) => tenant),
    premises.map(({ name }) => name),
    premises.map(({ version }) => version),
  ];
  return { name: 'tasks-stored-on', text: MANY_ON, values };
}

const ONE = `
  SELECT ${STORED_COLUMNS} FROM task ${withLog(FEW_BYTES, true)}
  WHERE task.task_id = $1 AND ($2::text IS NULL OR (task.tenant = $2 AND task.owner = $3))`;

const premiseCondition = (tenant: string, name: string, version: string): string => `EXISTS (
  SELECT FROM workflow_newest AS newest
  WHERE newest.tenant = ${tenant} AND newest.name = ${name} AND newest.version = ${version} OFFSET 0)`;

const ONE_ON = `${ONE} AND ${premiseCondition('$4', '$5', '$6')}`;

const MANY = `
  SELECT ${STORED_COLUMNS}, wanted.place::int
  FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS wanted (task_id, tenant, owner, place)
  JOIN task ON task.task_id = wanted.task_id
    AND (wanted.tenant IS NULL OR (task.tenant = wanted.tenant AND task.owner = wanted.owner))
  ${withLog(FEW_BYTES, true)}`;

// Each premise is looked up once, by its key. OFFSET 0 keeps the planner from using a join.
const MANY_ON = `${MANY}
  WHERE ($4::int[])[wanted.place] IS NULL OR ($4::int[])[wanted.place] = ANY (ARRAY(
    SELECT premise.position::int
    FROM unnest($5::text[], $6::text[], $7::text[]) WITH ORDINALITY AS premise (tenant, name, version, position)
    WHERE ${premiseCondition('premise.tenant', 'premise.name', 'premise.version')}))`;
