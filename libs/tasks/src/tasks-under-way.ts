import { ENDED } from './cancel-wish.js';

/** Finds the Tasks that have not ended: their execution may call other agents. */
export const TASKS_UNDER_WAY = `SELECT FROM task WHERE state NOT IN ${ENDED}`;
