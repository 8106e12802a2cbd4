import { IsOptional, IsString, IsUUID } from 'class-validator';
import { bodySchema } from './body-schema.js';
import { PositionBody, WorkflowEdgeBody } from './workflow-body.js';

class Note {
  @IsOptional()
  @IsString()
  text?: string;
}

class Other {
  @IsUUID()
  id!: string;
}

describe('bodySchema', () => {
  it('has the rules of the class, and what else is said of its members', () => {
    const from = { description: 'a node' };
    const to = { description: 'another' };
    expect(bodySchema(WorkflowEdgeBody, { from, to })).toEqual({
      type: 'object',
      properties: { from: { type: 'string', ...from }, to: { type: 'string', ...to } },
      required: ['from', 'to'],
    });
    expect(bodySchema(PositionBody, { x: {}, y: {} })).toMatchObject({ properties: { x: { type: 'number' } } });
  });

  it('lets what is optional be null', () => {
    expect(bodySchema(Note, { text: {} })).toEqual({
      type: 'object',
      properties: { text: { type: ['string', 'null'] } },
      required: [],
    });
  });

  it('refuses a rule that it has no word for, so that none is left out', () => {
    expect(() => bodySchema(Other, { id: {} })).toThrow('isUuid');
  });
});
