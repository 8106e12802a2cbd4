import { Controller, Get, Param } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiProperty, ApiPropertyOptional, ApiTags } from '@nestjs/swagger';
import { Scope } from '#libs/access';
import { ANY_JSON, ApiProblem, ProblemError } from '#libs/http-server';
import { type KeptCall, type KeptCallTexts, type KeptPrompts, TaskPrompts, type TaskScope } from '#libs/tasks';

/** Numbers of tokens of one model call, by kind. */
class PromptUsageView {
  @ApiProperty({ type: 'integer', example: 812 })
  inputTokens!: number;

  @ApiProperty({ type: 'integer', example: 64 })
  outputTokens!: number;

  @ApiPropertyOptional({
    type: 'integer',
    description: 'Input tokens from the cache of the provider; absent if the provider reports none.',
    example: 512,
  })
  cachedInputTokens?: number;

  @ApiPropertyOptional({
    type: 'integer',
    description: "Part of `inputTokens` written to the provider's cache.",
    example: 512,
  })
  cacheWriteInputTokens?: number;

  @ApiPropertyOptional({
    type: 'integer',
    description: 'Output tokens of the reasoning of the model; absent if the provider reports none.',
    example: 32,
  })
  reasoningTokens?: number;
  @ApiPropertyOptional({ description: 'Cost in US dollars; absent if unknown.', example: '0.0021' }) cost?: string;
}

/** Model call of a Task, without its texts. */
class PromptView implements KeptCall {
  @ApiProperty({ type: 'integer', description: 'Number of the call in the Task, from 1.', example: 1 })
  call!: number;

  @ApiProperty({
    type: 'integer',
    description: 'Step of the Task, as in the event `model.request`; repeated calls and fallbacks share one step.',
    example: 1,
  })
  step!: number;

  @ApiProperty({ description: 'Name of the model in this service.', example: 'writer' })
  model!: string;

  @ApiPropertyOptional({ description: 'Provider of the model; absent for the built-in model.', example: 'anthropic' })
  provider?: string;

  @ApiPropertyOptional({ description: 'Name of the model at the provider.', example: 'claude-sonnet-4-5' })
  providerModel?: string;

  @ApiProperty({ format: 'date-time', description: 'Time of the request.' })
  sentAt!: string;

  @ApiProperty({ type: 'integer', description: 'Number of messages after the system prompt.', example: 3 })
  messages!: number;

  @ApiPropertyOptional({
    type: 'integer',
    description: 'Milliseconds until the end of the answer; absent while the call is open, or after a crash.',
    example: 1430,
  })
  ms?: number;

  @ApiPropertyOptional({
    enum: ['stop', 'tool-calls', 'other'],
    description: 'Reason for which the answer ended.',
    example: 'stop',
  })
  reason?: string;

  @ApiPropertyOptional({ type: PromptUsageView })
  usage?: PromptUsageView;

  @ApiPropertyOptional({
    description: 'Deviation of the answer from the protocol of the provider.',
    example: 'its answer ended with [DONE] and without a finish_reason',
  })
  note?: string;

  @ApiPropertyOptional({
    description: 'Error text, if the model gave no answer.',
    example: 'model "writer" gave no answer: HTTP 503',
  })
  error?: string;

  @ApiPropertyOptional({ enum: [true], description: 'Present if a text of the call was too large to keep.' })
  cut?: true;
}

class PromptListView {
  @ApiProperty({ type: [PromptView], description: 'Model calls in order. Empty if none was made, or none is kept.' })
  calls!: PromptView[];

  @ApiPropertyOptional({
    enum: [true],
    description: 'Present if the Task has reached its limit of 256 KiB, so that later calls may not be kept.',
  })
  cut?: true;
}

/** Request of a model call. */
class SentPromptView {
  @ApiPropertyOptional({
    ...ANY_JSON,
    description: 'System prompt. A text that was too large is an object with `cut` and `start`.',
    example: 'You answer in one sentence.',
  })
  system?: unknown;

  @ApiProperty({
    type: 'array',
    items: { type: 'object', additionalProperties: true },
    description: 'Messages after the system prompt. A text that was too large is an object with `cut` and `start`.',
    example: [{ role: 'user', parts: [{ text: 'Hello' }] }],
  })
  messages!: KeptCallTexts['sent']['messages'];

  @ApiPropertyOptional({
    type: 'array',
    items: { type: 'object', additionalProperties: true },
    description: 'Offered tools, with the names that the model reads.',
    example: [{ name: 'clock', description: 'Returns the time.', inputSchema: { type: 'object' } }],
  })
  tools?: KeptCallTexts['sent']['tools'];

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    description: 'JSON Schema for the answer.',
    example: { type: 'object' },
  })
  output?: KeptCallTexts['sent']['output'];

  @ApiPropertyOptional({ type: 'number', example: 0.2 })
  temperature?: number;

  @ApiPropertyOptional({ type: 'integer', description: 'Maximum number of tokens of the answer.', example: 1000 })
  maxTokens?: number;
}

/** Model call of a Task with its texts. */
class PromptTextsView extends PromptView {
  @ApiProperty({ type: SentPromptView })
  sent!: SentPromptView;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    description: 'Answer of the model as a message; absent without an answer.',
    example: { role: 'assistant', parts: [{ text: 'Hello.', mediaType: 'text/plain' }] },
  })
  received?: KeptCallTexts['received'];
}

const NUMBER = /^[1-9]\d{0,8}$/;

/** Serves what models were sent for a Task, and what they answered. */
@ApiTags('events')
@Controller('api/tasks/:id/prompts')
export class PromptsController {
  constructor(private readonly prompts: TaskPrompts) {}

  @Get()
  @ApiOperation({ summary: 'Lists the model calls of a Task of yours. Needs the scope `prompts` or `admin`.' })
  @ApiOkResponse({ type: PromptListView })
  @ApiProblem(404, 'task not found')
  async listPrompts(@Param('id') id: string, @Scope() scope: TaskScope): Promise<PromptListView> {
    const { calls, isCut } = await this.readPrompts(scope, id);
    return { calls, ...(isCut && { cut: true }) };
  }

  @Get(':call')
  @ApiOperation({
    summary: 'Returns what a model was sent in one call, and what it answered. Needs the scope `prompts` or `admin`.',
  })
  @ApiParam({ name: 'call', type: 'integer', description: 'Number of the call in the Task, from 1.' })
  @ApiOkResponse({ type: PromptTextsView })
  @ApiProblem(404, 'task not found')
  async getPrompt(
    @Param('id') id: string,
    @Param('call') call: string,
    @Scope() scope: TaskScope,
  ): Promise<PromptTextsView> {
    const prompts = await this.readPrompts(scope, id);
    const found = NUMBER.test(call) ? prompts.findCall(Number(call)) : undefined;
    if (!found) throw new ProblemError(404, 'model call not found');
    return found;
  }

  private async readPrompts(scope: TaskScope, id: string): Promise<KeptPrompts> {
    const prompts = await this.prompts.readPrompts(scope, id);
    if (!prompts) throw new ProblemError(404, 'task not found');
    return prompts;
  }
}
