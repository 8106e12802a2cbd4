import type { IncomingHttpHeaders } from 'node:http';
import { malformed, ProblemError } from '#libs/http';
import { textStart } from '#libs/protocol';

/** `*`, or entity tags. */
type Tags = '*' | readonly string[];

const ENTITY_TAG = /^"[^"\s]*"$/;

/** The entity tag of a revision. */
export function etagOf(revision: string): string {
  return `"${revision}"`;
}

/** What a caller says of the revision it knows: `If-Match` and `If-None-Match` (RFC 9110, section 13.1). */
export class RevisionConditions {
  private constructor(
    private readonly match: Tags | undefined,
    private readonly noneMatch: Tags | undefined,
  ) {}

  static of(headers: IncomingHttpHeaders): RevisionConditions {
    return new RevisionConditions(tagsOf(headers['if-match']), tagsOf(headers['if-none-match']));
  }

  /**
   * Those of a change. A reader may overlook what is no entity tag; a change would be made that should not have been.
   * @throws ProblemError 400 naming the header
   */
  static ofChange(headers: IncomingHttpHeaders): RevisionConditions {
    const conditions = RevisionConditions.of(headers);
    const given = { 'If-Match': conditions.match, 'If-None-Match': conditions.noneMatch };
    for (const [path, tags] of Object.entries(given))
      if (tags !== undefined && tags !== '*' && !tags.every((tag) => ENTITY_TAG.test(tag)))
        throw malformed({ path, detail: 'must be * or ETags, each in quotes, such as "7"' });
    return conditions;
  }

  /** Whether there is any. */
  get given(): boolean {
    return this.match !== undefined || this.noneMatch !== undefined;
  }

  /**
   * To be asked before a change.
   * @param current the newest revision; `undefined` where there is no workflow
   * @throws ProblemError 412
   */
  require(name: string, current: string | undefined): void {
    const wrong =
      (this.match !== undefined && !holds(this.match, current)) || (this.noneMatch && holds(this.noneMatch, current));
    if (!wrong) return;
    const is = current === undefined ? 'does not exist' : `has the revision ${current}`;
    throw new ProblemError(
      412,
      `the workflow "${textStart(name, 64)}" ${is}: the condition of the request does not hold`,
    );
  }

  /** Whether a reader has the revision already (304). */
  has(current: string): boolean {
    return this.noneMatch !== undefined && holds(this.noneMatch, current);
  }
}

function holds(tags: Tags, current: string | undefined): boolean {
  if (current === undefined) return false;
  return tags === '*' || tags.includes(etagOf(current));
}

/** Weak tags are compared as what they stand for: a definition is the same byte by byte or another revision. */
function tagsOf(header: string | undefined): Tags | undefined {
  if (header === undefined) return undefined;
  if (header.trim() === '*') return '*';
  return header.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
}
