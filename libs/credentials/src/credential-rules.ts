import { Each } from '#libs/http';
import { applyDecorators } from '@nestjs/common';
import { ArrayMaxSize, IsArray, ValidateBy, ValidateIf, type ValidationArguments } from 'class-validator';

/** What a text must be, and how one is told of that is not. */
export type Check = readonly [test: (text: string, body: object) => boolean, detail: string];

const MAX_SECRET = 8_192;
const MAX_TEXT = 512;
/** What may stand in a header, without spaces. */
export const VISIBLE = /^[\x21-\x7e]+$/;
/** Anything but control characters; a user name without the colon that ends it (RFC 7617, section 2). */
const PRINTABLE = /^\P{Cc}+$/u;

const printable: Check = [(text) => PRINTABLE.test(text), 'must not be empty or have control characters'];

/** A text that passes every check; the first that it does not pass is told of. */
export function Text(...checks: Check[]): PropertyDecorator {
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

/** A text of the size that names and the like may have. */
export function ShortText(...checks: Check[]): PropertyDecorator {
  return Text(atMost(MAX_TEXT), printable, ...checks);
}

/** A secret that is sent as it is, in a header, say. */
export function HeaderSecret(): PropertyDecorator {
  return Text(atMost(MAX_SECRET), [(text) => VISIBLE.test(text), 'must be visible ASCII characters without spaces']);
}

/** A secret that is encoded before it is sent. */
export function TextSecret(): PropertyDecorator {
  return Text(atMost(MAX_SECRET), printable);
}

/** A list of at most so many texts that pass a test; those that do not are named by their places. */
export function TextList(most: number, test: (text: string) => boolean, detail: string): PropertyDecorator {
  return applyDecorators(
    IsArray({ message: 'must be an array' }),
    ArrayMaxSize(most, { message: `must have at most ${most} entries` }),
    Each((it) => typeof it === 'string' && test(it), detail),
  );
}

export function MayBeLeftOut(): PropertyDecorator {
  return ValidateIf((_body, value) => value !== undefined);
}

export function atMost(characters: number): Check {
  return [(text) => text.length <= characters, `must have at most ${characters} characters`];
}
