import { EachEntry } from '#libs/http';
import { applyDecorators } from '@nestjs/common';
import { ArrayMaxSize, IsArray, ValidateBy, ValidateIf, type ValidationArguments } from 'class-validator';

/** Condition on a text, and the detail reported if it fails. */
export type Check = readonly [test: (text: string, body: object) => boolean, detail: string];

const MAX_SECRET = 8_192;
const MAX_TEXT = 512;
/** Characters of a header value without spaces. */
export const VISIBLE = /^[\x21-\x7e]+$/;
/** Text without control characters; a user name also has no colon, which would end it (RFC 7617, section 2). */
const PRINTABLE = /^\P{Cc}+$/u;

const printable: Check = [(text) => PRINTABLE.test(text), 'must not be empty or have control characters'];

/** Validates a text against every check; the first failed check is reported. */
export function CheckedText(...checks: Check[]): PropertyDecorator {
  const faultOf = (value: unknown, body: object): string | undefined => {
    if (value === undefined) return 'is required';
    if (typeof value !== 'string') return 'must be a string';
    return checks.find(([test]) => !test(value, body))?.[1];
  };
  const validate = (value: unknown, args?: ValidationArguments): boolean =>
    faultOf(value, args?.object ?? {}) === undefined;
  return ValidateBy(
    { name: 'text', validator: { validate } },
    { message: ({ value, object }) => faultOf(value, object) ?? '' },
  );
}

/** Validates a text of the length of a name. */
export function ShortText(...checks: Check[]): PropertyDecorator {
  return CheckedText(atMost(MAX_TEXT), printable, ...checks);
}

/** Validates a secret that is sent unchanged, such as in a header. */
export function HeaderSecret(): PropertyDecorator {
  return CheckedText(atMost(MAX_SECRET), [
    (text) => VISIBLE.test(text),
    'must be visible ASCII characters without spaces',
  ]);
}

/** Validates a secret that is encoded before it is sent. */
export function TextSecret(): PropertyDecorator {
  return CheckedText(atMost(MAX_SECRET), printable);
}

/** Validates a list of texts with a maximum length; failing entries are reported by index. */
export function TextList(most: number, test: (text: string) => boolean, detail: string): PropertyDecorator {
  return applyDecorators(
    IsArray({ message: 'must be an array' }),
    ArrayMaxSize(most, { message: `must have at most ${most} entries` }),
    EachEntry((it) => typeof it === 'string' && test(it), detail),
  );
}

export function MayBeLeftOut(): PropertyDecorator {
  return ValidateIf((_body, value) => value !== undefined);
}

export function atMost(characters: number): Check {
  return [(text) => text.length <= characters, `must have at most ${characters} characters`];
}
