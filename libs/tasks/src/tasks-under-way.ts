import { ENDED } from './cancel-wish.js';

/** Query for the Tasks that have not ended, whose executions may call other agents. */
export const TASKS_UNDER_WAY = `SELECT FROM task WHERE state NOT IN ${ENDED}`;
