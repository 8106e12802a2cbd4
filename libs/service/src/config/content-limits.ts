import { z } from 'zod';
import { parseBytes } from './quantities.js';

/**
 * How large what goes through the service may be. What is put together here, and what agents elsewhere answer, is counted
 * in characters (UTF-16 code units); what is recorded in bytes of its JSON.
 */
export interface ContentLimits {
  /** Characters of what the templates of one node, or of one step of a script, come to. */
  readonly renderedText: number;
  /** One Artifact, all its chunks together. */
  readonly artifact: number;
  /** The whole log of one Task; a run is one, so what its nodes answer counts too. */
  readonly task: number;
  /** Members of objects and elements of lists in one JSON text. */
  readonly jsonMembers: number;
  /** Rules of one script. */
  readonly scriptRules: number;
  /** Characters of all regular expressions in the scripts of one workflow. */
  readonly expressions: number;
  /** Instructions that those expressions are compiled to. */
  readonly expressionSize: number;
}

const MEGABYTE = 1024 ** 2;
/** Longer strings do not exist in this runtime. */
const LONGEST_TEXT = 512 * MEGABYTE;
const MOST = 100_000_000;

/** What holds where nothing else is said, beside a `BODY_LIMIT` of at most 4 MiB. */
export const DEFAULT_CONTENT_LIMITS: ContentLimits = {
  renderedText: 4 * MEGABYTE,
  artifact: 32 * MEGABYTE,
  task: 64 * MEGABYTE,
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

/** The variables of `ContentLimits`. */
export const CONTENT_VARIABLES = {
  RENDERED_TEXT_LIMIT: size.optional(),
  ARTIFACT_LIMIT: size.optional(),
  TASK_LIMIT: size.optional(),
  JSON_MEMBERS_LIMIT: count.optional(),
  SCRIPT_RULES_LIMIT: count.optional(),
  EXPRESSIONS_LIMIT: size.optional(),
  EXPRESSION_SIZE_LIMIT: count.optional(),
};

type Values = { readonly [Name in keyof typeof CONTENT_VARIABLES]?: number };

/** A caller's largest body fits where nothing is said: limits that are not set grow with it. */
export function contentLimitsOf(values: Values, bodyLimit: number): ContentLimits {
  const standard = DEFAULT_CONTENT_LIMITS;
  const grown = (characters: number, times: number): number =>
    Math.min(Math.max(characters, bodyLimit * times), LONGEST_TEXT);
  return {
    renderedText: values.RENDERED_TEXT_LIMIT ?? grown(standard.renderedText, 1),
    artifact: values.ARTIFACT_LIMIT ?? grown(standard.artifact, 8),
    task: values.TASK_LIMIT ?? grown(standard.task, 16),
    jsonMembers: values.JSON_MEMBERS_LIMIT ?? standard.jsonMembers,
    scriptRules: values.SCRIPT_RULES_LIMIT ?? standard.scriptRules,
    expressions: values.EXPRESSIONS_LIMIT ?? standard.expressions,
    expressionSize: values.EXPRESSION_SIZE_LIMIT ?? standard.expressionSize,
  };
}
