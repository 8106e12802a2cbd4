import { z } from 'zod';
import { invalidParams } from '#libs/protocol';
import { CALLER_NAME } from '#libs/service';
import { PERMISSIONS } from './caller.js';

const MAX_OVERLAP_SECONDS = 7 * 24 * 60 * 60;

export const MAKE_KEY = z.strictObject({
  name: z.string().regex(CALLER_NAME, 'must have 1 to 128 letters, digits or ._@+-'),
  scopes: z
    .array(z.enum(PERMISSIONS))
    .min(1)
    .transform((names) => [...new Set(names)])
    .default(['agents']),
});

export const ROTATE_KEY = z.strictObject({
  overlapSeconds: z.int().min(0).max(MAX_OVERLAP_SECONDS).default(0),
});

/** Reads a body. @throws A2AError INVALID_PARAMS naming each field at fault, without its value */
export function readKeyBody<T>(schema: z.ZodType<T>, body: unknown): T {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  throw invalidParams(
    ...parsed.error.issues.map((it) => ({ field: it.path.join('.') || 'body', description: it.message })),
  );
}
