import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional, type ApiPropertyOptions } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import {
  IsBoolean,
  IsDate,
  IsIn,
  IsInt,
  IsOptional,
  Max,
  Min,
  ValidateBy,
  type ValidationOptions,
} from 'class-validator';
import { readTimestamp } from '#libs/protocol';
import { ProblemError } from '../problem.js';

const DEFAULT_PAGE_SIZE = 50;
const MAX_PAGE_SIZE = 100;

/** Declares a query parameter: a text without NUL that passes a test, and is given once; optional unless `required`. */
export function QueryText(
  test: (text: string) => boolean,
  detail: string,
  documentation: ApiPropertyOptions & { required?: boolean } = {},
): PropertyDecorator {
  const validate = (value: unknown): boolean => typeof value === 'string' && !hasNul(value) && test(value);
  const document = documentation.required ? ApiProperty : ApiPropertyOptional;
  return applyDecorators(
    document({ type: String, ...documentation } as ApiPropertyOptions),
    ...(documentation.required ? [] : [IsOptional()]),
    ValidateBy({ name: 'queryText', validator: { validate } }, givenOnce(detail)),
  );
}

/** Declares an optional query parameter with one of several values. */
export function QueryWord(words: readonly string[], documentation: ApiPropertyOptions = {}): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({ enum: [...words], ...documentation } as ApiPropertyOptions),
    IsOptional(),
    IsIn(words, givenOnce(`must be one of ${words.join(', ')}`)),
  );
}

/** Declares an optional query parameter with a time; the property is a Date. */
export function QueryTime(documentation: ApiPropertyOptions = {}): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({ type: String, format: 'date-time', ...documentation } as ApiPropertyOptions),
    IsOptional(),
    Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? (timeIn(value) ?? value) : value)),
    IsDate(givenOnce('must be a time such as 2026-01-31T09:30:00Z')),
  );
}

/** Declares a query parameter `true` or `false`; without the parameter the property keeps its default. */
export function QueryFlag(documentation: ApiPropertyOptions = {}): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({ type: Boolean, default: false, ...documentation } as ApiPropertyOptions),
    Transform(({ value }: { value: unknown }) => (value === 'true' ? true : value === 'false' ? false : value)),
    IsBoolean(givenOnce('must be true or false')),
  );
}

/**
 * Declares the query parameter for the page size: 1 to 100, 50 by default.
 * @param empty page size that an empty text means; absent: an empty text is rejected
 */
export function QueryPageSize(empty?: number): PropertyDecorator {
  const rule = givenOnce(`must be a number from 1 to ${MAX_PAGE_SIZE}`);
  return applyDecorators(
    ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: MAX_PAGE_SIZE, default: DEFAULT_PAGE_SIZE }),
    Transform(({ value }: { value: unknown }) => (value === '' && empty !== undefined ? empty : numberOf(value))),
    IsInt(rule),
    Min(1, rule),
    Max(MAX_PAGE_SIZE, rule),
  );
}

/**
 * Declares the query parameter for the page size, `most` by default: without the parameter one page has the whole
 * list.
 */
export function QueryWholePageSize(most: number): PropertyDecorator {
  const rule = givenOnce(`must be a number from 1 to ${most}`);
  return applyDecorators(
    ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: most, default: most }),
    Transform(({ value }: { value: unknown }) => numberOf(value)),
    IsInt(rule),
    Min(1, rule),
    Max(most, rule),
  );
}

/**
 * Declares an optional query parameter for the token of a page; an empty token requests the first page.
 * @param isToken true for a valid token of the list
 */
export function QueryPageToken(
  isToken: (text: string) => boolean,
  example: string,
  description = 'The nextPageToken of the page before.',
): PropertyDecorator {
  const isAllowed = (text: string): boolean => text === '' || isToken(text);
  return QueryText(isAllowed, 'is not a token of this list', { description, example });
}

/**
 * Declares a query parameter: a whole number of at most nine digits, for a property with a default.
 * @param most upper limit; absent: only the nine digits limit the number
 */
export function QueryNumber(
  least: number,
  most: number | undefined,
  documentation: ApiPropertyOptions = {},
): PropertyDecorator {
  const rule = givenOnce(
    most === undefined ? `must be a number from ${least} on` : `must be a number from ${least} to ${most}`,
  );
  const maximum = most ?? 999_999_999;
  return applyDecorators(
    ApiPropertyOptional({
      type: 'integer',
      minimum: least,
      ...(most !== undefined && { maximum: most }),
      ...documentation,
    } as ApiPropertyOptions),
    Transform(({ value }: { value: unknown }) =>
      typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value,
    ),
    IsInt(rule),
    Min(least, rule),
    Max(maximum, rule),
  );
}

const WITHOUT_SECONDS = /^(\S{10}T\d\d:\d\d)(Z|[+-]\d\d:\d\d)$/;

/** Parses an RFC 3339 time, with or without seconds. */
function timeIn(text: string): Date | undefined {
  return readTimestamp(text.replace(WITHOUT_SECONDS, '$1:00$2'));
}

/** Converts a text of one to four digits to a number; returns anything else unchanged. */
function numberOf(value: unknown): unknown {
  return typeof value === 'string' && /^\d{1,4}$/.test(value) ? Number(value) : value;
}

function givenOnce(detail: string): ValidationOptions {
  return {
    message: ({ value }) =>
      Array.isArray(value) ? 'must be given once' : hasNul(value) ? 'must not contain a NUL character' : detail,
  };
}

/** True for a text with NUL, which PostgreSQL rejects in any statement. */
function hasNul(value: unknown): boolean {
  return typeof value === 'string' && value.includes('\0');
}

/** Position of a Task in a list sorted by newest first. */
export interface PagePosition {
  updatedAt: Date;
  taskId: string;
}

const EXAMPLE: PagePosition = { updatedAt: new Date(Date.UTC(2026, 0, 31)), taskId: '019a1f0e-5b7a-7c31' };
const TOKEN = /^(\d{1,15})\.([\x21-\x7e]{1,200})$/;

/** Query parameters of a page of a list sorted by newest first. The page token encodes a PagePosition. */
export class PageQuery {
  @QueryPageSize()
  pageSize = 50;

  @QueryPosition()
  pageToken?: string;

  /** Position of the last row of the previous page; `undefined` on the first page. */
  get before(): PagePosition | undefined {
    return parsePageToken(this.pageToken);
  }
}

/** Declares the query parameter for the token of a page of a list sorted by newest first. */
export function QueryPosition(): PropertyDecorator {
  return QueryPageToken((text) => parsePageToken(text) !== undefined, pageTokenAfter(EXAMPLE));
}

/** Returns the page token for the page after a row. */
export function pageTokenAfter({ updatedAt, taskId }: PagePosition): string {
  return Buffer.from(`${updatedAt.getTime()}.${taskId}`).toString('base64url');
}

/** Returns the position that a page token encodes; `undefined` for an empty, absent or invalid token. */
export function parsePageToken(token = ''): PagePosition | undefined {
  const [, time, taskId] = TOKEN.exec(Buffer.from(token, 'base64url').toString()) ?? [];
  const updatedAt = new Date(Number(time));
  return taskId === undefined || Number.isNaN(updatedAt.getTime()) ? undefined : { updatedAt, taskId };
}

/**
 * Page of a list sorted by name: `limit` entries after the name `after`. `limit` is one more than the page size: the
 * extra entry shows that another page follows.
 */
export interface NamedPage {
  limit: number;
  after: string;
}

/**
 * Returns the part of a list sorted by name that a query requests. The page token is the last name of the previous
 * page.
 */
export function namedPage({ pageSize, pageToken = '' }: { pageSize: number; pageToken?: string }): NamedPage {
  return { limit: pageSize + 1, after: pageToken };
}

/**
 * Cuts the rows that were read to one page. Returns the page, and the token of the next page; `''` for the last page.
 * @param rows rows of the page, and one more row if another page follows
 * @param tokenAfter returns the token of the page after a row; by default the name of the row
 */
export function cutPage<T extends { name: string }>(rows: readonly T[], pageSize: number): CutPage<T>;
export function cutPage<T>(rows: readonly T[], pageSize: number, tokenAfter: (last: T) => string): CutPage<T>;
export function cutPage<T>(rows: readonly T[], pageSize: number, tokenAfter = nameOf): CutPage<T> {
  const page = rows.slice(0, pageSize);
  const last = rows.length > pageSize ? page.at(-1) : undefined;
  return { page, nextPageToken: last === undefined ? '' : tokenAfter(last) };
}

interface CutPage<T> {
  page: T[];
  nextPageToken: string;
}

function nameOf(row: unknown): string {
  return (row as { name: string }).name;
}

/** Number of entries that a tenant has in a list, and the limit. */
export interface TenantCount {
  /** Current number of entries. */
  count: number;
  most: number;
  /** Plural noun, as in `a tenant has at most 1000 models`. */
  what: string;
}

/** Rejects a new entry if the tenant has reached the limit. @throws ProblemError 422 */
export function refuseMoreThan({ count, most, what }: TenantCount): void {
  if (count < most) return;
  const detail = `a tenant has at most ${most} ${what}, and this one has ${count}: delete one first`;
  throw new ProblemError(422, detail, [{ path: '', detail }], 'TOO_MANY');
}
