import { ArrayMaxSize, IsArray, IsInt, IsOptional, ValidateNested } from 'class-validator';
import { ProblemError } from '../problem.js';
import { type BodyType, EachEntry, readBody } from './api-validation-pipe.js';

class Entries {
  @IsArray({ message: 'must be a list' })
  @EachEntry((it) => typeof it === 'string', 'must be a string')
  names: unknown[] = ['none'];
}

class Strict extends Entries {
  static readonly optional = true;
  static readonly unknown = 'is not known';

  @IsInt({ message: 'must be a whole number' })
  size = 1;
}

class Bounded {
  @IsOptional()
  @IsArray({ message: 'must be a list' })
  @ArrayMaxSize(2, { message: 'must not be longer' })
  @ValidateNested({ each: true })
  list?: unknown[];

  @IsArray({ message: 'must be a list' })
  @ArrayMaxSize(2, { message: 'must not be longer' })
  needed: unknown = [];
}

class Nested {
  static readonly unknown = 'is not known';

  @IsOptional()
  @ValidateNested({ each: true })
  lists?: unknown[];

  @IsOptional()
  free?: unknown;

  static from({ lists, free }: { lists?: object[]; free?: unknown }): Nested {
    return Object.assign(new Nested(), { lists: lists?.map((it) => Object.assign(new Strict(), it)), free });
  }
}

class Named {
  static readonly exceptionFactory = (entries: { path: string }[]): Error =>
    new Error(entries.map(({ path }) => path || 'body').join());

  @IsInt()
  size!: number;
}

function refused(type: BodyType<object>, body: unknown): string[] {
  try {
    readBody(type, body);
  } catch (error) {
    if (error instanceof ProblemError) return error.errors.map(({ path, detail }) => `${path}: ${detail}`);
    throw error;
  }
  return [];
}

describe('readBody', () => {
  it('names what is not known of nested members, and takes no free-form value for one', () => {
    const lists = [{ size: 1 }, { size: 2, width: 3 }];
    const free = { constructor: { unknown: 'x' }, __proto__: 1, width: 1 };
    expect(refused(Nested, { lists, free, extra: 1 })).toEqual(['lists[1].width: is not known', 'extra: is not known']);
    expect(refused(Nested, { free: [free, [free]] })).toEqual([]);
  });

  it('takes over the members that have a rule, as they were sent, and no other', () => {
    const names: unknown[] = [];
    const read = readBody(Entries, { names, size: 3, constructor: 'x' });
    expect(read).toBeInstanceOf(Entries);
    expect({ ...read }).toEqual({ names: [] });
    expect(read.names).toBe(names);
  });

  it('leaves a member that was not sent at its default', () => {
    expect(readBody(Strict, undefined)).toEqual({ names: ['none'], size: 1 });
  });

  it.each<[BodyType<object>, unknown, string[]]>([
    [Entries, undefined, [': the body must be a JSON object']],
    [Strict, null, [': the body must be a JSON object']],
    [Entries, [], [': the body must be a JSON object']],
    [Strict, 'text', [': the body must be a JSON object']],
    [Entries, { names: null }, ['names: must be a list']],
    [Entries, { names: ['a', 1, 'b', null] }, ['names[1]: must be a string', 'names[3]: must be a string']],
    [Bounded, { list: 5, needed: null }, ['list: must be a list', 'needed: must be a list']],
    [Bounded, { needed: [1, 2, 3] }, ['needed: must not be longer']],
    [Strict, { size: '1', shape: 2 }, ['size: must be a whole number', 'shape: is not known']],
  ])('%p refuses %j', (type, body, entries) => {
    expect(refused(type, body)).toEqual(entries);
  });

  it('refuses in the words of the class, where it has some', () => {
    expect(() => readBody(Named, [])).toThrow('body');
    expect(() => readBody(Named, { size: 'x' })).toThrow('size');
  });
});
