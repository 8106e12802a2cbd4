import { IsArray, IsIn, IsOptional, IsString, IsUUID } from 'class-validator';
import { IsJoin, PositionBody } from './workflow-node-body.js';
import { bodySchema } from './workflow-schema.js';

class Note {
  @IsOptional()
  @IsString()
  text?: string;
}

class Choices {
  @IsOptional()
  text?: unknown;

  @IsOptional()
  @IsIn(['up', 'down'])
  way?: string;

  @IsOptional()
  @IsArray()
  list?: unknown[];

  @IsOptional()
  @IsJoin()
  join?: unknown;
}

class Other {
  @IsUUID()
  id!: string;
}

describe('bodySchema', () => {
  it('has the rules of the class, and what else is said of its members', () => {
    const x = { description: 'to the right' };
    const y = { type: 'integer', description: 'down' };
    expect(bodySchema(PositionBody, { x, y })).toEqual({
      type: 'object',
      properties: { x: { type: 'number', ...x }, y },
      required: ['x', 'y'],
    });
  });

  it('lets what is optional be null', () => {
    expect(bodySchema(Note, { text: {} })).toEqual({
      type: 'object',
      properties: { text: { type: ['string', 'null'] } },
      required: [],
    });
  });

  it('lets it be null also where it may be several things', () => {
    const members = {
      text: { anyOf: [{ type: 'string' }] },
      way: { default: 'up' },
      list: { type: ['array', 'null'] },
      join: { anyOf: [{ const: 'all' }] },
    };
    expect(bodySchema(Choices, members).properties).toEqual({
      text: { anyOf: [{ type: 'string' }, { type: 'null' }] },
      way: { enum: ['up', 'down', null], default: 'up' },
      list: { type: ['array', 'null'] },
      join: { anyOf: [{ const: 'all' }, { type: 'null' }] },
    });
  });

  it('refuses a rule that it has no word for, so that none is left out', () => {
    expect(() => bodySchema(Other, { id: {} })).toThrow('isUuid');
  });
});
