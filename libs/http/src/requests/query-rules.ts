import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional, type ApiPropertyOptions } from '@nestjs/swagger';
import { readTimestamp } from '#libs/protocol';
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

const DEFAULT_PAGE_SIZE = 50;
const MAX_PAGE_SIZE = 100;

/** A text that passes the test, once, and has no NUL; unless it is `required`, it may be left out. */
export function QueryText(
  test: (text: string) => boolean,
  detail: string,
  documentation: ApiPropertyOptions & { required?: boolean } = {},
): PropertyDecorator {
  const validate = (value: unknown): boolean => typeof value === 'string' && !hasNul(value) && test(value);
  return applyDecorators(
    ApiPropertyOptional({ type: String, ...documentation } as ApiPropertyOptions),
    ...(documentation.required ? [] : [IsOptional()]),
    ValidateBy({ name: 'queryText', validator: { validate } }, once(detail)),
  );
}

/** A parameter that may be left out, and is else one of some words. */
export function QueryWord(words: readonly string[], documentation: ApiPropertyOptions = {}): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({ enum: [...words], ...documentation } as ApiPropertyOptions),
    IsOptional(),
    IsIn(words, once(`must be one of ${words.join(', ')}`)),
  );
}

/** A parameter that may be left out, and is else a time; the property is a Date. */
export function QueryTime(documentation: ApiPropertyOptions = {}): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({ type: String, format: 'date-time', ...documentation } as ApiPropertyOptions),
    IsOptional(),
    Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? (timeIn(value) ?? value) : value)),
    IsDate(once('must be a time such as 2026-01-31T09:30:00Z')),
  );
}

/** A parameter that is `true` or `false`; the property's own value where it is left out. */
export function QueryFlag(documentation: ApiPropertyOptions = {}): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({ type: Boolean, default: false, ...documentation } as ApiPropertyOptions),
    Transform(({ value }: { value: unknown }) => (value === 'true' ? true : value === 'false' ? false : value)),
    IsBoolean(once('must be true or false')),
  );
}

/**
 * How many a page has, for a property that is 50 where nothing is given.
 * @param empty what an empty text stands for; refused without it
 */
export function QueryPageSize(empty?: number): PropertyDecorator {
  const rule = once(`must be a number from 1 to ${MAX_PAGE_SIZE}`);
  return applyDecorators(
    ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: MAX_PAGE_SIZE, default: DEFAULT_PAGE_SIZE }),
    Transform(({ value }: { value: unknown }) => (value === '' && empty !== undefined ? empty : numberOf(value))),
    IsInt(rule),
    Min(1, rule),
    Max(MAX_PAGE_SIZE, rule),
  );
}

/** How many a page has, for a property that is `most` where nothing is given: then a page has everything there may be. */
export function QueryWholePageSize(most: number): PropertyDecorator {
  const rule = once(`must be a number from 1 to ${most}`);
  return applyDecorators(
    ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: most, default: most }),
    Transform(({ value }: { value: unknown }) => numberOf(value)),
    IsInt(rule),
    Min(1, rule),
    Max(most, rule),
  );
}

/**
 * A whole number of at most nine digits, for a property that has its default.
 * @param most absent where there is no other limit
 */
export function QueryNumber(
  least: number,
  most: number | undefined,
  documentation: ApiPropertyOptions = {},
): PropertyDecorator {
  const rule = once(
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

/** As RFC 3339 has it, and also without seconds. */
function timeIn(text: string): Date | undefined {
  return readTimestamp(text.replace(WITHOUT_SECONDS, '$1:00$2'));
}

/** The text of a whole number of at most four digits as that number; anything else as it is. */
function numberOf(value: unknown): unknown {
  return typeof value === 'string' && /^\d{1,4}$/.test(value) ? Number(value) : value;
}

function once(detail: string): ValidationOptions {
  return {
    message: ({ value }) =>
      Array.isArray(value) ? 'must be given once' : hasNul(value) ? 'must not contain a NUL character' : detail,
  };
}

/** PostgreSQL knows no text with one, and refuses every statement that is given it. */
function hasNul(value: unknown): boolean {
  return typeof value === 'string' && value.includes('\0');
}
