import { _, type Ajv, type FuncKeywordDefinition, str } from 'ajv';

/**
 * Keyword `multipleOf`. It replaces the keyword of Ajv, which divides doubles: for Ajv, 19.99 is not a multiple of
 * 0.01.
 */
const MULTIPLE_OF: FuncKeywordDefinition = {
  keyword: 'multipleOf',
  type: 'number',
  schemaType: 'number',
  validate: (divisor: number, value: number) => isMultipleOf(value, divisor),
  error: {
    message: ({ schemaCode }) => str`must be multiple of ${schemaCode}`,
    params: ({ schemaCode }) => _`{multipleOf: ${schemaCode}}`,
  },
};

/**
 * Replaces the keyword `multipleOf` of a validator by a keyword that computes with decimals. @returns the same
 * validator
 */
export function withDecimalMultiples(ajv: Ajv): Ajv {
  ajv.removeKeyword('multipleOf').addKeyword(MULTIPLE_OF);
  return ajv;
}

/**
 * True if `value` is a whole multiple of `divisor`. Each number is read as the shortest decimal that it is written
 * as.
 */
function isMultipleOf(value: number, divisor: number): boolean {
  if (!Number.isFinite(value) || !(divisor > 0)) return false;
  if (Number.isSafeInteger(value) && Number.isSafeInteger(divisor)) return value % divisor === 0;
  const [one, other] = [toDecimal(value), toDecimal(divisor)];
  const least = Math.min(one.exponent, other.exponent);
  return scaleDigits(one, least) % scaleDigits(other, least) === 0n;
}

/** Number as `digits` times ten to the power of `exponent`. */
interface Decimal {
  digits: bigint;
  exponent: number;
}

function toDecimal(value: number): Decimal {
  const [mantissa = '', power = '0'] = value.toExponential().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  return { digits: BigInt(whole + fraction), exponent: Number(power) - fraction.length };
}

function scaleDigits({ digits, exponent }: Decimal, least: number): bigint {
  return digits * 10n ** BigInt(exponent - least);
}
