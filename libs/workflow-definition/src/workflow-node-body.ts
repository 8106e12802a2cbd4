import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import {
  IsArray,
  IsBoolean,
  IsIn,
  IsNumber,
  IsObject,
  IsOptional,
  IsString,
  ValidateBy,
  ValidateNested,
} from 'class-validator';
import { EachEntry, withMembers } from '#libs/http-server';
import { isJsonObject, type JsonObject, type JsonValue, type Part } from '#libs/protocol';
import type { Join } from './workflow.js';

/** Accepts `"all"`, `"any"` or `{"n", "cancelRest"?}`. */
export function IsJoin(): PropertyDecorator {
  return ValidateBy(
    { name: 'isJoin', validator: { validate: isJoin } },
    { message: 'must be "all", "any" or {"n": a number, "cancelRest": true or false}' },
  );
}

function IsNumberOrString(): PropertyDecorator {
  const validate = (value: unknown): boolean => ['number', 'string'].includes(typeof value);
  return ValidateBy(
    { name: 'isNumberOrString', validator: { validate } },
    { message: 'must be a number or a percentage such as "80%"' },
  );
}

function isJoin(value: JsonValue): boolean {
  return value === 'all' || value === 'any' || (isJsonObject(value) && isCount(value));
}

function isCount({ n, cancelRest = null }: JsonObject): boolean {
  return typeof n === 'number' && (cancelRest === null || typeof cancelRest === 'boolean');
}

export const IDENTIFIER = '^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$';

export class PositionBody {
  @ApiProperty({ example: 120 })
  @IsNumber({}, { message: 'must be a number' })
  x!: number;

  @ApiProperty({ example: 80 })
  @IsNumber({}, { message: 'must be a number' })
  y!: number;
}

export class EachBody {
  @ApiProperty({ description: 'CEL that gives a list.', example: 'inputs.words' })
  @IsString({ message: 'must be a string' })
  items!: string;

  @ApiPropertyOptional({ type: 'integer', minimum: 1, default: 5 })
  @IsOptional()
  @IsNumber({}, { message: 'must be a number' })
  concurrency?: number;

  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: 10_000, default: 1000 })
  @IsOptional()
  @IsNumber({}, { message: 'must be a number' })
  maxItems?: number;

  @ApiPropertyOptional({ enum: ['fail', 'collect'], default: 'fail' })
  @IsOptional()
  @IsIn(['fail', 'collect'], { message: 'must be "fail" or "collect"' })
  onFailure?: 'fail' | 'collect';

  @ApiPropertyOptional({ oneOf: [{ type: 'integer' }, { type: 'string' }], example: '80%' })
  @IsOptional()
  @IsNumberOrString()
  minSuccess?: number | string;
}

export class RetryBody {
  @ApiProperty({ type: 'integer', minimum: 1, maximum: 100, example: 3 })
  @IsNumber({}, { message: 'must be a number' })
  attempts!: number;

  @ApiPropertyOptional({ type: [String], example: ['timeout', 'server-error'] })
  @IsOptional()
  @IsArray({ message: 'must be an array' })
  @EachEntry((kind) => typeof kind === 'string', 'must be a string')
  on?: string[];

  @ApiPropertyOptional({ description: 'CEL that gives true or false.', example: "error.kind != 'failed'" })
  @IsOptional()
  @IsString({ message: 'must be a string' })
  when?: string;

  @ApiPropertyOptional({ default: '1s' })
  @IsOptional()
  @IsString({ message: 'must be a string' })
  delay?: string;

  @ApiPropertyOptional({ minimum: 1, default: 2 })
  @IsOptional()
  @IsNumber({}, { message: 'must be a number' })
  factor?: number;

  @ApiPropertyOptional({ default: '1m' })
  @IsOptional()
  @IsString({ message: 'must be a string' })
  maxDelay?: string;

  @ApiPropertyOptional({ minimum: 0, maximum: 1, default: 0.5 })
  @IsOptional()
  @IsNumber({}, { message: 'must be a number' })
  jitter?: number;
}

export class FallbackBody {
  @ApiProperty({ type: 'array', items: { type: 'object' }, example: [{ text: 'Nobody knows' }] })
  @IsArray({ message: 'must be an array' })
  parts!: Part[];
}

export class OutputBody {
  @ApiPropertyOptional({ type: 'object', additionalProperties: true, example: { type: 'object' } })
  @IsOptional()
  @IsObject({ message: 'must be an object' })
  schema?: JsonValue;

  @ApiPropertyOptional()
  @IsOptional()
  @IsBoolean({ message: 'must be true or false' })
  parse?: boolean;
}

export class WaitBody {
  @ApiProperty({ example: '48h' })
  @IsString({ message: 'must be a string' })
  deadline!: string;

  @ApiPropertyOptional({ oneOf: [{ type: 'object' }, { type: 'string' }], example: { decision: 'no' } })
  @IsOptional()
  default?: JsonValue;
}

/** Members of a node that are objects with known members. */
const PARTS = {
  position: PositionBody,
  each: EachBody,
  retry: RetryBody,
  fallback: FallbackBody,
  output: OutputBody,
  onWait: WaitBody,
};

export class WorkflowNodeBody {
  @ApiProperty({ pattern: IDENTIFIER, example: 'writer' })
  @IsString({ message: 'must be a string' })
  id!: string;

  @ApiProperty({
    examples: [
      ...['input', 'agent', 'tool', 'output', 'external', 'script'],
      ...['set', 'wait', 'human', 'workflow', 'conversation', 'brainstorm'],
    ],
  })
  @IsString({ message: 'must be a string' })
  type!: string;

  @ApiPropertyOptional({ type: 'object', additionalProperties: true, example: { prompt: 'Greet {{topic}}' } })
  @IsOptional()
  @IsObject({ message: 'must be an object' })
  config?: JsonObject;

  @ApiPropertyOptional({ type: PositionBody, description: 'Position of the node in an editor.' })
  @IsOptional()
  @IsObject({ message: 'must be an object' })
  @ValidateNested({ message: 'must be an object' })
  position?: PositionBody;

  @ApiPropertyOptional({ enum: ['every', 'first'], default: 'every' })
  @IsOptional()
  @IsIn(['every', 'first'], { message: 'must be "every" or "first"' })
  branch?: 'every' | 'first';

  @ApiPropertyOptional({
    oneOf: [
      { type: 'string', enum: ['all', 'any'] },
      { type: 'object', example: { n: 2, cancelRest: true } },
    ],
    default: 'all',
  })
  @IsOptional()
  @IsJoin()
  join?: Join;

  @ApiPropertyOptional({ type: EachBody, description: 'Runs the node once for each entry of a list.' })
  @IsOptional()
  @IsObject({ message: 'must be an object' })
  @ValidateNested({ message: 'must be an object' })
  each?: EachBody;

  @ApiPropertyOptional({ type: RetryBody, description: 'Conditions and delays of retries.' })
  @IsOptional()
  @IsObject({ message: 'must be an object' })
  @ValidateNested({ message: 'must be an object' })
  retry?: RetryBody;

  @ApiPropertyOptional({ description: 'Time limit of one attempt.', example: '2m' })
  @IsOptional()
  @IsString({ message: 'must be a string' })
  timeout?: string;

  @ApiPropertyOptional({ type: FallbackBody, description: 'Result of the node if no attempt succeeds.' })
  @IsOptional()
  @IsObject({ message: 'must be an object' })
  @ValidateNested({ message: 'must be an object' })
  fallback?: FallbackBody;

  @ApiPropertyOptional({ type: OutputBody, description: 'Required form of the result.' })
  @IsOptional()
  @IsObject({ message: 'must be an object' })
  @ValidateNested({ message: 'must be an object' })
  output?: OutputBody;

  @ApiPropertyOptional({ type: WaitBody, description: 'Handling of questions that get no answer.' })
  @IsOptional()
  @IsObject({ message: 'must be an object' })
  @ValidateNested({ message: 'must be an object' })
  onWait?: WaitBody;

  static from(sent: JsonObject): WorkflowNodeBody {
    const parts = Object.entries(PARTS).flatMap(([name, type]) => {
      const value = sent[name];
      return isJsonObject(value) ? [[name, withMembers<object>(type, value)]] : [];
    });
    return Object.assign(withMembers(WorkflowNodeBody, sent), Object.fromEntries(parts));
  }
}
