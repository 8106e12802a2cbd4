import { z } from 'zod';
import type { JsonObject } from '#libs/protocol';
import { STATE_LISTS, STATE_RULES, type StateContent } from './canonical-state.js';

/** JSON Schema (draft 7) of a state that agents are asked for, derived from the rules of `readState`. */
export const STATE_SCHEMA = schemaOf();

/**
 * JSON Schema (draft 7) of the answers that `readState` accepts: lists may be missing, unknown members are dropped, and
 * the severity of a risk may be capitalized.
 */
export const ACCEPTED_STATE_SCHEMA = acceptedSchema();

/** A state in which every list has an entry. */
export const EXAMPLE_STATE: StateContent = {
  idea: 'A library that lends tools',
  architecture:
    'A website shows which tools are free; a room in the town hall holds them, and volunteers hand them out.',
  execution_plan: [
    {
      title: 'Open on one day a week',
      description:
        'Two volunteers hand out the first fifty donated tools each Saturday morning and note who has which.',
    },
  ],
  risks: [{ text: 'A borrower is hurt by a tool that is broken', severity: 'high', resolved: false }],
  assumptions: ['The town lends the room for free'],
  open_questions: ['Who insures the borrowers?'],
  metrics: { confidence: 0.6 },
};

function schemaOf(options: Parameters<typeof z.toJSONSchema>[1] = {}): JsonObject {
  const { $schema: _dialect, ...schema } = z.toJSONSchema(STATE_RULES, { target: 'draft-7', ...options });
  return schema as JsonObject;
}

function acceptedSchema(): JsonObject {
  const { required = [], ...schema } = schemaOf({
    io: 'input',
    override: ({ jsonSchema }) => loosenSchema(jsonSchema),
  });
  const lists: readonly unknown[] = STATE_LISTS;
  return { ...schema, required: (required as string[]).filter((name) => !lists.includes(name)) };
}

/**
 * Relaxes a part of the schema in place, possibly more than once. A pattern over long texts could exceed the time limit
 * of a check.
 */
function loosenSchema(schema: z.core.JSONSchema.BaseSchema): void {
  if (schema.enum)
    schema.enum = [...new Set(schema.enum.filter((word) => typeof word === 'string').flatMap(listSpellings))];
  if (schema.pattern === undefined) return;
  delete schema.pattern;
  schema.minLength = 1;
}

function listSpellings(word: string): string[] {
  return [word, word.charAt(0).toUpperCase() + word.slice(1), word.toUpperCase()];
}
