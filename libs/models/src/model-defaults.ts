import { ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsIn, IsInt, IsNumber, Max, Min } from 'class-validator';
import { ApiClosed, EachEntry, IfGiven } from '#libs/http-server';
import { TOOL_CALL_FORMS, type ToolCallForm } from './model.js';

const MOST_STOPS = 4;
const LONGEST_STOP = 100;
const MOST_TOKENS = 1_000_000;
/** Maximum of `waitSeconds`: one hour. */
const LONGEST_WAIT_S = 3_600;

const TEMPERATURE = { message: 'must be a number from 0 to 2' };
const TOP_P = { message: 'must be a number from 0 to 1' };
const TOKENS = { message: `must be a whole number from 1 to ${MOST_TOKENS}` };
const WAIT = { message: `must be a whole number from 1 to ${LONGEST_WAIT_S}` };

/** Settings of the calls to a model, which apply where a node sets none. */
@ApiClosed()
export class ModelDefaults {
  static readonly unknown = 'is not a field of the defaults of a model';

  @ApiPropertyOptional({ minimum: 0, maximum: 2, description: 'Sampling temperature.', example: 0.2 })
  @IfGiven()
  @IsNumber({}, TEMPERATURE)
  @Min(0, TEMPERATURE)
  @Max(2, TEMPERATURE)
  temperature?: number;

  @ApiPropertyOptional({
    minimum: 0,
    maximum: 1,
    description: 'Total probability of the tokens from which the model samples.',
    example: 0.9,
  })
  @IfGiven()
  @IsNumber({}, TOP_P)
  @Min(0, TOP_P)
  @Max(1, TOP_P)
  topP?: number;

  @ApiPropertyOptional({
    type: [String],
    maxItems: MOST_STOPS,
    description: 'Texts before which an answer ends.',
    example: ['END'],
  })
  @IfGiven()
  @IsArray({ message: 'must be an array' })
  @ArrayMaxSize(MOST_STOPS, { message: `must have at most ${MOST_STOPS} entries` })
  @EachEntry(isStopText, `must be a text of 1 to ${LONGEST_STOP} characters`)
  stop?: string[];

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    maximum: MOST_TOKENS,
    description: 'Maximum number of tokens of one answer; an answer that reaches it fails.',
    example: 2000,
  })
  @IfGiven()
  @IsInt(TOKENS)
  @Min(1, TOKENS)
  @Max(MOST_TOKENS, TOKENS)
  maxTokens?: number;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    maximum: LONGEST_WAIT_S,
    description: 'Seconds to wait for the first piece of an answer, and for each further piece; default: 120.',
    example: 600,
  })
  @IfGiven()
  @IsInt(WAIT)
  @Min(1, WAIT)
  @Max(LONGEST_WAIT_S, WAIT)
  waitSeconds?: number;

  @ApiPropertyOptional({
    enum: TOOL_CALL_FORMS,
    description: 'Form of tool calls: `schema` for endpoints that cannot call tools; default: `native`.',
    example: 'schema',
  })
  @IfGiven()
  @IsIn(TOOL_CALL_FORMS, { message: `must be one of ${TOOL_CALL_FORMS.join(', ')}` })
  toolCalls?: ToolCallForm;
}

function isStopText(text: unknown): boolean {
  return typeof text === 'string' && text !== '' && text.length <= LONGEST_STOP;
}

/** Converts defaults, which may be an instance of the class ModelDefaults, to a plain object for storage as JSON. */
export function toPlainDefaults(defaults: ModelDefaults): ModelDefaults {
  const { temperature, topP, stop, maxTokens, waitSeconds, toolCalls } = defaults;
  return {
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
    ...(stop !== undefined && { stop: [...stop] }),
    ...(maxTokens !== undefined && { maxTokens }),
    ...(waitSeconds !== undefined && { waitSeconds }),
    ...(toolCalls !== undefined && { toolCalls }),
  };
}
