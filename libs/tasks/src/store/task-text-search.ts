import { Injectable } from '@nestjs/common';
import { Database } from '#libs/postgres';
import { ROW_TEXT } from '../journal/log-row.js';
import { newestTasks } from './task-queries.js';
import type { TaskQuery } from './task-store.js';

/** Maximum characters at the beginning of a log row that are searched. */
const SEARCHED_CHARACTERS = 65_536;

/** Position of a Task in the list of the newest Tasks. */
interface TextSearchPlace {
  updatedAt: Date;
  taskId: string;
}

/** Task that may contain a text. */
export interface TextMatch extends TextSearchPlace {
  /** Rank among the Tasks that the statement searched, from 1. */
  rank: number;
}

/** Tasks that one statement searched, and those that may contain the text. */
export interface SearchedTasks {
  /** Tasks that may contain the text, newest first. */
  matches: TextMatch[];
  /** Number of Tasks that were searched. */
  searched: number;
  /** Last Task that was searched; absent if no further Tasks follow. */
  last?: TextSearchPlace;
}

/**
 * Searches for a text in the newest Tasks of a list: in the id, in the path of the agent, in the first row of each
 * Task's log, and in the rows of its last two events. There is no index of texts, because the journal would have to
 * write it. Instead, the caller limits the number of Tasks per search, and continues after the last searched Task.
 */
@Injectable()
export class TaskTextSearch {
  constructor(private readonly database: Database) {}

  /**
   * Searches at most `query.limit` Tasks, and returns those that may contain the text; the caller must check them. A
   * Task is missed if the searched rows contain the text only after their first 64 Ki characters.
   */
  async searchTasks(query: TaskQuery, text: string): Promise<SearchedTasks> {
    const { page, values } = newestTasks(query);
    const found = values.push(longestPlainPart(text));
    const id = values.push(text.toLowerCase());
    const { rows } = await this.database.reads.queryInTurn<SearchedRow>(query.scope, {
      text: searchStatement(page, `$${found}`, `$${id}`),
      values,
    });
    const last = rows.at(-1);
    return {
      matches: rows.flatMap(({ matches, task_id: taskId, updated_at: updatedAt, rank }) =>
        matches ? { taskId, updatedAt, rank } : [],
      ),
      searched: last?.searched ?? 0,
      ...(last?.searched === query.limit && { last: { updatedAt: last.updated_at, taskId: last.task_id } }),
    };
  }
}

interface SearchedRow {
  task_id: string;
  updated_at: Date;
  matches: boolean;
  rank: number;
  searched: number;
}

/**
 * Returns the statement that searches the Tasks of the query `page`. Its result has the rows of matches, and always the
 * row of the last Task.
 */
function searchStatement(page: string, part: string, id: string): string {
  return `
    WITH candidate AS MATERIALIZED (${page}),
    examined AS (
      SELECT task_id, updated_at,
             (row_number() OVER (ORDER BY updated_at DESC, task_id DESC))::int AS rank,
             (count(*) OVER ())::int AS searched,
             strpos(task_id, ${id}) > 0 OR strpos(lower(agent), ${id}) > 0 OR EXISTS (
               SELECT FROM (
                 (SELECT ${ROW_TEXT} AS text FROM task_log
                  WHERE task_log.task_id = candidate.task_id ORDER BY sequence LIMIT 1)
                 UNION ALL
                 (SELECT ${ROW_TEXT} AS text FROM task_log
                  WHERE task_log.task_id = candidate.task_id AND sequence >= candidate.last_sequence - 1
                  ORDER BY sequence LIMIT 2)
               ) AS line
               WHERE strpos(lower(left(line.text, ${SEARCHED_CHARACTERS}) COLLATE "C"), ${part}) > 0
             ) AS matches
      FROM candidate
    )
    SELECT task_id, updated_at, rank, matches, searched FROM examined
    WHERE matches OR rank = searched ORDER BY rank`;
}

/** Matches parts of a text that neither JSON nor the format of log rows changes. */
const PLAIN = /[ a-z0-9.,:;!?()[\]{}<>'`/@#$%&*+=_~^|-]+/g;

/**
 * Returns the longest part of a text, in lower case, that a log contains unchanged (PLAIN). Returns an empty text,
 * which every log contains, if the text has no such part.
 */
function longestPlainPart(text: string): string {
  const parts = text.toLowerCase().match(PLAIN) ?? [];
  return parts.reduce((longest, part) => (part.length > longest.length ? part : longest), '');
}
