import { z } from 'zod';

const databaseUrl = z
  .string()
  .refine((text) => ['postgres:', 'postgresql:'].includes(protocolOf(text)), 'must be a postgres:// URL')
  .refine((text) => [undefined, 'scram-sha-256'].includes(requiredAuth(text)), 'can require_auth=scram-sha-256 only');

/** Environment variables for the database, for the pool of plain queries, and for the adoption of a copy. */
export const DATABASE_VARIABLES = {
  DATABASE_URL: databaseUrl.optional(),
  DATABASE_POOL_URL: databaseUrl.optional(),
  ADOPT_DATABASE: z
    .string()
    .regex(/^[0-9a-f]{12}$/, 'must be the value that the refused start names')
    .optional(),
};

/** Returns the problems that these variables have in combination. */
export function databaseProblems(env: Readonly<Record<string, string | undefined>>): string[] {
  if (env['DATABASE_POOL_URL'] === undefined || env['DATABASE_URL'] !== undefined) return [];
  return ['DATABASE_POOL_URL: needs DATABASE_URL, a direct or session-pooled connection to the same database'];
}

/** Returns libpq's connection parameter `require_auth`. The only supported value is `scram-sha-256`. */
export function requiredAuth(url: string): string | undefined {
  return /[?&]require_auth=([^&#]*)/.exec(url)?.[1];
}

function protocolOf(text: string): string {
  return URL.canParse(text) ? new URL(text).protocol : '';
}
