import type { KeptSecrets } from './push-secrets.js';

/** Config with the data for its next notification. */
export interface DueConfig extends KeptSecrets {
  pushId: string;
  turn: number;
  tenant: string;
  owner: string;
  url: string;
  scheme: string | null;
  wireVersion: string;
  deliveredSequence: number;
  /** Number of failures since the last success. */
  attempts: number;
}

/** Columns of a due config. */
export const DUE_CONFIG = `
  push_id AS "pushId", turn, task_id AS "taskId", config_id AS "configId", tenant, owner, url, scheme,
  secrets AS sealed, token, credentials,
  wire_version AS "wireVersion", delivered_sequence AS "deliveredSequence", attempts`;
