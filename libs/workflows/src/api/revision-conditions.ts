import type { IncomingHttpHeaders } from 'node:http';
import { malformedRequest, ProblemError } from '#libs/http-server';
import { textStart } from '#libs/protocol';

/** Value of a condition header: `*`, or entity tags without the weak prefix `W/`. */
type Tags = '*' | readonly string[];

const ENTITY_TAG = /^"[^"\s]*"$/;

/** Maximum number of attempts at a change. Other callers may change the same workflow concurrently. */
export const MOST_TRIES = 10;

/**
 * Returns the problem for a change that has failed `MOST_TRIES` times because other callers changed the same workflow.
 */
export function contentionProblem(name: string): ProblemError {
  return new ProblemError(409, `the workflow "${name}" is being changed by others; try again`);
}

/** Returns the entity tag (ETag) of a revision. */
export function etagOf(revision: string): string {
  return `"${revision}"`;
}

/** Conditions of a request on the revision of a workflow: `If-Match` and `If-None-Match` (RFC 9110, section 13.1). */
export class RevisionConditions {
  private constructor(
    private readonly match: Tags | undefined,
    private readonly noneMatch: Tags | undefined,
  ) {}

  static fromHeaders(headers: IncomingHttpHeaders): RevisionConditions {
    return new RevisionConditions(tagsOf(headers['if-match']), tagsOf(headers['if-none-match']));
  }

  /**
   * Reads the conditions of a request that changes a workflow. For a request that only reads, use `fromHeaders`, which
   * accepts malformed entity tags.
   * @throws ProblemError for a malformed entity tag
   */
  static fromChangeHeaders(headers: IncomingHttpHeaders): RevisionConditions {
    const conditions = RevisionConditions.fromHeaders(headers);
    const given = { 'If-Match': conditions.match, 'If-None-Match': conditions.noneMatch };
    for (const [path, tags] of Object.entries(given))
      if (tags !== undefined && tags !== '*' && !tags.every((tag) => ENTITY_TAG.test(tag)))
        throw malformedRequest({ path, detail: 'must be * or ETags, each in quotes, such as "7"' });
    return conditions;
  }

  /** True if the request has a condition. */
  get given(): boolean {
    return this.match !== undefined || this.noneMatch !== undefined;
  }

  /**
   * Rejects a change if `If-Match` or `If-None-Match` does not hold for the newest revision.
   * @param name name of the workflow
   * @param current the newest revision; `undefined` if the workflow does not exist
   * @throws ProblemError 412 if a condition does not hold
   */
  assertRevision(name: string, current: string | undefined): void {
    const wrong =
      (this.match !== undefined && !matchesRevision(this.match, current)) ||
      (this.noneMatch && matchesRevision(this.noneMatch, current));
    if (!wrong) return;
    const is = current === undefined ? 'does not exist' : `has the revision ${current}`;
    throw new ProblemError(
      412,
      `the workflow "${textStart(name, 64)}" ${is}: the condition of the request does not hold`,
    );
  }

  /** True if `If-None-Match` is `*` or names this revision, so that the response is 304. */
  isUnmodified(current: string): boolean {
    return this.noneMatch !== undefined && matchesRevision(this.noneMatch, current);
  }
}

function matchesRevision(tags: Tags, current: string | undefined): boolean {
  if (current === undefined) return false;
  return tags === '*' || tags.includes(etagOf(current));
}

/**
 * Parses a condition header; `undefined` if the request does not have it. Weak tags are treated like strong ones,
 * because the content of a revision never changes.
 */
function tagsOf(header: string | undefined): Tags | undefined {
  if (header === undefined) return undefined;
  if (header.trim() === '*') return '*';
  return header.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
}
