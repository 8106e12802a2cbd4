import { hasUserinfo, LONGEST_URL, NO_USERINFO } from '#libs/protocol';
import { applyDecorators } from '@nestjs/common';
import { IsNumber, IsOptional, Matches, ValidateBy, type ValidationArguments } from 'class-validator';

export const LONGEST_REFERENCE = LONGEST_URL;

/** Pattern of a text that is not blank. */
export const GIVEN = /\S/;

/** Context of a rule that a value of the right type violates by being out of range. */
const RANGE = { range: true };

/** Decorator: the name, the path or the URL of an agent. */
export function AgentReference({ required = false } = {}): PropertyDecorator {
  return applyDecorators(
    ...(required ? [] : [IsOptional()]),
    GivenText('must be the name, the path or the URL of an agent'),
    RangeRule((value) => {
      if (typeof value !== 'string') return undefined;
      return hasUserinfo(value) ? NO_USERINFO : value.length > LONGEST_REFERENCE ? 'is too long' : undefined;
    }),
  );
}

/** Decorator: a text that is not blank. @param kind message for a value of another type */
export function GivenText(kind = 'must be a string'): PropertyDecorator {
  const explainText = ({ value }: ValidationArguments): string => {
    if (value === undefined || value === null) return 'is required';
    return typeof value === 'string' ? 'must not be empty' : kind;
  };
  return Matches(GIVEN, { message: explainText });
}

/** Decorator: a whole number within a range. */
export function WholeNumber(least: number, most: number): PropertyDecorator {
  const isWithin = (value: number): boolean => Number.isInteger(value) && value >= least && value <= most;
  return applyDecorators(
    IsOptional(),
    IsNumber({}, { message: 'must be a number' }),
    RangeRule((value) =>
      typeof value !== 'number' || isWithin(value) ? undefined : `must be a whole number, from ${least} to ${most}`,
    ),
  );
}

/** Decorator: one of some words. Any other value is out of range, whatever its type. */
export function OneOf(words: readonly string[]): PropertyDecorator {
  const isOne = (value: unknown): boolean => words.some((word) => word === value);
  return applyDecorators(
    IsOptional(),
    RangeRule((value) => (isOne(value) ? undefined : `must be ${words.join(' or ')}`)),
  );
}

/** True if the context of a rule marks a value as out of range. */
export function isRange(context: unknown): boolean {
  return (context as { range?: boolean } | undefined)?.range === true;
}

function RangeRule(problem: (value: unknown) => string | undefined): PropertyDecorator {
  const isAllowed = (value: unknown): boolean => problem(value) === undefined;
  const explainRange = ({ value }: ValidationArguments): string => problem(value) ?? '';
  return ValidateBy({ name: 'range', validator: { validate: isAllowed } }, { message: explainRange, context: RANGE });
}
