import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsObject, IsOptional, IsString, Matches } from 'class-validator';
import { ApiClosed, ProblemError } from '#libs/http-server';
import type { JsonObject } from '#libs/protocol';
import { WORKFLOW_NAME, type WorkflowProblem } from '#libs/workflow-definition';
import { WorkflowProblemView } from '#libs/workflows';
import { MOST_DESCRIPTION_CHARACTERS } from './generation-limits.js';

/** Body of a request to generate a workflow. */
@ApiClosed()
export class GenerateBody {
  @ApiProperty({
    minLength: 1,
    maxLength: MOST_DESCRIPTION_CHARACTERS,
    description: 'Description of the workflow or, with `current`, of the change to it.',
    example: 'Summarize a text in three sentences, then let a person approve the summary.',
  })
  @IsString({ message: 'must be a string' })
  description!: string;

  @ApiPropertyOptional({
    type: String,
    nullable: true,
    description:
      'Model that writes the workflow, one of `/api/models`. Default: `GENERATE_MODEL`, or the default model.',
    example: 'large',
  })
  @IsOptional()
  @IsString({ message: 'must be a string' })
  model?: string | null;

  @ApiPropertyOptional({
    type: 'object',
    nullable: true,
    additionalProperties: true,
    description: 'Definition to change. Nodes that the description does not concern stay unchanged.',
    example: { name: 'summary', nodes: [{ id: 'text', type: 'input' }] },
  })
  @IsOptional()
  @IsObject({ message: 'must be an object' })
  current?: JsonObject | null;

  @ApiPropertyOptional({
    type: String,
    nullable: true,
    pattern: WORKFLOW_NAME.source,
    description: 'Name of the workflow. Default: the name of `current`, or one that the model chooses.',
    example: 'summary',
  })
  @IsOptional()
  @Matches(WORKFLOW_NAME, { message: 'must have 1 to 64 letters, digits, _ and -, and must not begin with -' })
  name?: string | null;

  static readonly unknown = 'is none of description, model, current, name';
}

/** Example bodies for the API documentation. */
export const GENERATE_EXAMPLES = {
  'a new workflow': { value: { description: 'Summarize a text, then let a person approve the summary.' } },
};

/** Number of tokens that the provider reports for all calls of one request; 0 if it reports none. */
export class TokenUsage {
  @ApiProperty({ type: 'integer', example: 9120 })
  inputTokens!: number;

  @ApiProperty({ type: 'integer', example: 640 })
  outputTokens!: number;
}

/** Answer of the endpoint: a workflow that a model wrote. It is not saved. */
export class GeneratedWorkflow {
  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    description: 'Definition. It may have errors after the last repair; `problems` lists them.',
    example: { name: 'summary', nodes: [{ id: 'text', type: 'input' }], edges: [] },
  })
  workflow!: JsonObject;

  @ApiProperty({ type: [WorkflowProblemView], description: 'Problems of the definition; errors first.' })
  problems!: WorkflowProblem[];

  @ApiProperty({ type: 'integer', minimum: 1, maximum: 3, description: 'Number of answers of the model.', example: 1 })
  attempts!: number;

  @ApiProperty({ description: 'Model that wrote the definition.', example: 'large' })
  model!: string;

  @ApiProperty({ type: TokenUsage })
  usage!: TokenUsage;
}

/** Refuses a description that is blank (422) or too long (413). @throws ProblemError */
export function checkDescription({ description }: GenerateBody): void {
  if (description.trim() === '') throw refusedDescription(422, 'must say what the workflow does');
  if (description.length > MOST_DESCRIPTION_CHARACTERS)
    throw refusedDescription(413, `must not have more than ${MOST_DESCRIPTION_CHARACTERS} characters`);
}

function refusedDescription(status: number, detail: string): ProblemError {
  return new ProblemError(status, `description ${detail}`, [{ path: 'description', detail }]);
}
