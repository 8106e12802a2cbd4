import { hasUserinfo, LONGEST_URL, NO_USERINFO } from '#libs/protocol';
import { applyDecorators } from '@nestjs/common';
import { IsNumber, IsOptional, Matches, ValidateBy, type ValidationArguments } from 'class-validator';

export const LONGEST_REFERENCE = LONGEST_URL;

/** Pattern of a text that is not blank. */
export const GIVEN = /\S/;

/** What a rule carries whose breach is a value of the right kind that is not allowed. */
const RANGE = { range: true };

/** The name, the path or the URL of an agent. */
export function AgentReference({ required = false } = {}): PropertyDecorator {
  return applyDecorators(
    ...(required ? [] : [IsOptional()]),
    GivenText('must be the name, the path or the URL of an agent'),
    Range((value) => {
      if (typeof value !== 'string') return undefined;
      return hasUserinfo(value) ? NO_USERINFO : value.length > LONGEST_REFERENCE ? 'is too long' : undefined;
    }),
  );
}

/** A text that says something. @param kind what it must be, for who sends something else */
export function GivenText(kind = 'must be a string'): PropertyDecorator {
  const message = ({ value }: ValidationArguments): string => {
    if (value === undefined || value === null) return 'is required';
    return typeof value === 'string' ? 'must not be empty' : kind;
  };
  return Matches(GIVEN, { message });
}

/** A whole number within its range; of another one it is said what the range is. */
export function WholeNumber(least: number, most: number): PropertyDecorator {
  const isWithin = (value: number): boolean => Number.isInteger(value) && value >= least && value <= most;
  return applyDecorators(
    IsOptional(),
    IsNumber({}, { message: 'must be a number' }),
    Range((value) =>
      typeof value !== 'number' || isWithin(value) ? undefined : `must be a whole number, from ${least} to ${most}`,
    ),
  );
}

/** One of some words. Any other value is one that is not allowed, of whatever type it is. */
export function OneOf(words: readonly string[]): PropertyDecorator {
  const isOne = (value: unknown): boolean => words.some((word) => word === value);
  return applyDecorators(
    IsOptional(),
    Range((value) => (isOne(value) ? undefined : `must be ${words.join(' or ')}`)),
  );
}

/** Whether a rule says by its context that a value is outside its range. */
export function isRange(context: unknown): boolean {
  return (context as { range?: boolean } | undefined)?.range === true;
}

function Range(problem: (value: unknown) => string | undefined): PropertyDecorator {
  const validate = (value: unknown): boolean => problem(value) === undefined;
  const message = ({ value }: ValidationArguments): string => problem(value) ?? '';
  return ValidateBy({ name: 'range', validator: { validate } }, { message, context: RANGE });
}
