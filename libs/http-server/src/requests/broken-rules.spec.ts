import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsBoolean,
  IsDefined,
  IsIn,
  IsInt,
  IsNumber,
  IsObject,
  IsOptional,
  IsString,
  Length,
  Matches,
  Max,
  MaxLength,
  Min,
  ValidateIf,
  ValidateNested,
  validateSync,
  type ValidationError,
} from 'class-validator';
import fc from 'fast-check';
import { brokenRules, EachEntry } from './api-validation-pipe.js';

class Leaf {
  @IsString({ message: 'must be a string' })
  name: unknown;

  @IsOptional()
  @Min(1)
  @Max(10)
  @IsInt()
  size?: unknown;

  @IsOptional()
  @IsIn(['a', 'b'], { message: '$property of $target is $value and must be one of $constraint1' })
  kind?: unknown;
}

class Base {
  @IsDefined()
  @Length(2, 4)
  @Matches(/^a/, { message: 'must begin with a' })
  @Matches(/b$/, { message: 'must end with b' })
  code: unknown;

  @ValidateIf((it: Base) => it.flag === true)
  @IsNumber({}, { message: () => 'must be a number' })
  amount: unknown;

  @IsOptional()
  @IsBoolean()
  flag?: unknown;
}

class Body extends Base {
  @IsOptional()
  @IsArray({ message: 'must be a list' })
  @ArrayMinSize(1, { message: 'must have an entry' })
  @ArrayMaxSize(3, { message: 'must not have more than 3 entries' })
  @ValidateNested({ each: true })
  list?: unknown;

  @IsOptional()
  @IsObject({ message: 'must be an object' })
  @ValidateNested({ message: 'must be an object' })
  one?: unknown;

  @IsOptional()
  @IsArray({ message: 'must be a list' })
  @MaxLength(3, { each: true })
  @EachEntry((it) => typeof it === 'string', 'must be a string')
  texts?: unknown;
}

/**
 * Returns what `brokenRules` must find, computed from the errors of class-validator: one entry for each rule that a
 * member violates, without duplicates.
 */
function reference(errors: readonly ValidationError[], parent = ''): { path: string; detail: string }[] {
  return errors.flatMap(({ property, value, constraints = {}, contexts, children = [] }) => {
    const index = /^\d+$/.test(property) ? `${parent}[${property}]` : `${parent}.${property}`;
    const path = parent === '' ? property : index;
    const { isArray } = constraints;
    const own = Object.entries(isArray === undefined ? constraints : { isArray }).flatMap(([rule, detail]) => {
      const { test } = (contexts?.[rule] ?? {}) as { test?: (entry: unknown) => boolean };
      const all = test && Array.isArray(value) ? value.flatMap((it, at) => (test(it) ? [] : [`[${at}]`])) : [''];
      return all.map((at) => ({ path: `${path}${at}`, detail }));
    });
    const distinct = new Map(own.map((entry) => [JSON.stringify(entry), entry]));
    return [...distinct.values(), ...reference(children, path)];
  });
}

const odd = fc.oneof(fc.constantFrom<unknown>(undefined, null, 0, 3, 1.5, 'a', 'ab', 'axb', 'xyzxyz', true, [], {}));
const leaf = fc.record({ name: odd, size: odd, kind: odd }).map((it) => Object.assign(new Leaf(), it));
const body = fc
  .record({
    ...{ code: odd, amount: odd, flag: odd },
    list: fc.oneof(odd, fc.array(fc.oneof(odd, leaf, fc.array(leaf, { maxLength: 2 })), { maxLength: 5 })),
    one: fc.oneof(odd, leaf),
    texts: fc.oneof(odd, fc.array(odd, { maxLength: 4 })),
  })
  .map((it) => Object.assign(new Body(), it));

describe('The rules of a body', () => {
  it('are found broken as class-validator finds them, in its words and order', () => {
    fc.assert(
      fc.property(body, (instance) => {
        const expected = reference(validateSync(instance, { forbidUnknownValues: false }));
        expect(brokenRules(instance, Infinity)).toEqual(expected);
      }),
      { numRuns: 200 },
    );
  });

  it('are read once for a class, and no further than a caller reads of what is wrong', () => {
    let looks = 0;
    const entry = Object.defineProperty(new Leaf(), 'name', { get: () => (looks += 1) });
    const list = Array.from({ length: 10_000 }, () => entry);
    const found = brokenRules(Object.assign(new Body(), { code: 'ab', list }), 100);
    expect(found).toHaveLength(100);
    expect(found.slice(0, 2)).toEqual([
      { path: 'list', detail: 'must not have more than 3 entries' },
      { path: 'list[0].name', detail: 'must be a string' },
    ]);
    expect(looks).toBe(99);
  });

  it('may be a function of the class, whose paths are those in the instance', () => {
    class Odd {
      static findFaults(): object[] {
        return [{ path: 'inner.name', detail: 'is odd' }];
      }
    }
    const found = brokenRules(Object.assign(new Body(), { code: 'ab', list: [], one: new Odd() }), 100);
    expect(found.filter(({ detail }) => detail === 'is odd')).toEqual([{ path: 'one.inner.name', detail: 'is odd' }]);
    expect(brokenRules(new Odd(), 100)).toEqual([{ path: 'inner.name', detail: 'is odd' }]);
  });
});
