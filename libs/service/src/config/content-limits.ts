import { z } from 'zod';
import { parseBytes } from './quantities.js';

/**
 * Size limits of content. Rendered text and the answers of remote agents are counted in characters (UTF-16 code units),
 * recorded data in bytes of JSON.
 */
export interface ContentLimits {
  /** Maximum characters that the templates of one node, or of one step of a script, render. */
  readonly renderedText: number;
  /** Maximum bytes of one Artifact, all its chunks together. */
  readonly artifact: number;
  /** Maximum bytes of one Task's log. A run is one Task, so the answers of its nodes count too. */
  readonly task: number;
  /** Maximum bytes of one answer of a remote agent, or of one event of its stream. */
  readonly answer: number;
  /** Maximum number of object members and list elements in one JSON text. */
  readonly jsonMembers: number;
  /** Maximum number of rules in one script. */
  readonly scriptRules: number;
  /** Maximum characters of all regular expressions in the scripts of one workflow. */
  readonly expressions: number;
  /** Maximum number of instructions that the regular expressions of one workflow compile to. */
  readonly expressionSize: number;
}

const MEGABYTE = 1024 ** 2;
/** Largest permitted value of a size limit: about the length of the longest string that V8 can hold. */
const LONGEST_TEXT = 512 * MEGABYTE;
const MOST = 100_000_000;

/** Defaults for a `BODY_LIMIT` of at most 4 MiB. */
export const DEFAULT_CONTENT_LIMITS: ContentLimits = {
  renderedText: 4 * MEGABYTE,
  artifact: 32 * MEGABYTE,
  task: 64 * MEGABYTE,
  answer: 16 * MEGABYTE,
  jsonMembers: 50_000,
  scriptRules: 200,
  expressions: 16_384,
  expressionSize: 20_000,
};

const size = z
  .string()
  .transform((text) => parseBytes(text) ?? 0)
  .refine(
    (characters) => characters >= 1024 && characters <= LONGEST_TEXT,
    'must be a size such as 65536, 512kb or 4mb, from 1kb to 512mb',
  );

const count = z
  .string()
  .refine((text) => /^\d{1,9}$/.test(text) && Number(text) >= 1 && Number(text) <= MOST, 'must be a number from 1 on')
  .transform(Number);

/** Environment variables of `ContentLimits`. */
export const CONTENT_VARIABLES = {
  RENDERED_TEXT_LIMIT: size.optional(),
  ARTIFACT_LIMIT: size.optional(),
  TASK_LIMIT: size.optional(),
  JSON_MEMBERS_LIMIT: count.optional(),
  SCRIPT_RULES_LIMIT: count.optional(),
  EXPRESSIONS_LIMIT: size.optional(),
  EXPRESSION_SIZE_LIMIT: count.optional(),
};

type ContentLimitValues = { readonly [Name in keyof typeof CONTENT_VARIABLES]?: number };

/**
 * Returns the content limits.
 * - Unset limits of rendered text, Artifacts and Tasks grow with `BODY_LIMIT`, so that the largest body always fits.
 * - The unset limit of an agent's answer grows as well: an answer may hold a Message and an Artifact, each as large as
 *   a request body.
 * - All other unset limits have fixed defaults.
 */
export function contentLimitsOf(values: ContentLimitValues, bodyLimit: number): ContentLimits {
  const standard = DEFAULT_CONTENT_LIMITS;
  const growWithBody = (characters: number, times: number): number =>
    Math.min(Math.max(characters, bodyLimit * times), LONGEST_TEXT);
  return {
    renderedText: values.RENDERED_TEXT_LIMIT ?? growWithBody(standard.renderedText, 1),
    artifact: values.ARTIFACT_LIMIT ?? growWithBody(standard.artifact, 8),
    task: values.TASK_LIMIT ?? growWithBody(standard.task, 16),
    answer: growWithBody(standard.answer, 2),
    jsonMembers: values.JSON_MEMBERS_LIMIT ?? standard.jsonMembers,
    scriptRules: values.SCRIPT_RULES_LIMIT ?? standard.scriptRules,
    expressions: values.EXPRESSIONS_LIMIT ?? standard.expressions,
    expressionSize: values.EXPRESSION_SIZE_LIMIT ?? standard.expressionSize,
  };
}
