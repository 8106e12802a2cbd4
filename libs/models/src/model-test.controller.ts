import { Body, Controller, HttpCode, Param, Post, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProperty, ApiPropertyOptional, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Caller, sendTrial } from '#libs/access';
import { OutboundHttp } from '#libs/http-client';
import { ApiProblem, assertCallable, ProblemError } from '#libs/http-server';
import { Shutdown } from '#libs/service';
import { MODEL_NAME } from './model-definition.js';
import { ModelStore } from './model-store.js';
import {
  MODEL_TEST_CAUSES,
  type ModelTestCause,
  ModelTester,
  type ModelTestResult,
  ModelTestSlots,
  type TestedModel,
} from './model-tester.js';
import { ModelBody } from './models.controller.js';

/** Number of tokens of a test, as the provider reports it. */
class ModelTestUsage {
  @ApiProperty({ type: 'integer', example: 17 })
  inputTokens!: number;

  @ApiProperty({ type: 'integer', example: 2 })
  outputTokens!: number;

  @ApiPropertyOptional({
    type: 'integer',
    description: 'Part of `inputTokens` from the cache of the provider.',
    example: 0,
  })
  cachedInputTokens?: number;

  @ApiPropertyOptional({
    type: 'integer',
    description: "Part of `inputTokens` written to the provider's cache.",
    example: 0,
  })
  cacheWriteInputTokens?: number;

  @ApiPropertyOptional({ type: 'integer', description: 'Part of `outputTokens` for reasoning.', example: 0 })
  reasoningTokens?: number;

  @ApiPropertyOptional({ description: 'Cost in US dollars; absent if the model has no price.', example: '0.00001' })
  cost?: string;
}

/** Failure of a test. */
class ModelTestFailure {
  @ApiProperty({ enum: MODEL_TEST_CAUSES, example: 'key-refused' })
  cause!: ModelTestCause;

  @ApiProperty({ description: "The provider's reason, without secrets.", example: 'the provider refused the key' })
  message!: string;

  @ApiPropertyOptional({ type: 'integer', description: 'HTTP status of the provider, if it answered.', example: 401 })
  status?: number;
}

/** Result of a test, as callers see it. */
class ModelTestView {
  @ApiProperty({ description: 'True if the model answered.' })
  ok!: boolean;

  @ApiProperty({ type: 'integer', description: 'Milliseconds until the whole answer, or the failure.', example: 412 })
  latencyMs!: number;

  @ApiPropertyOptional({
    maxLength: 500,
    description: 'Start of the answer; absent if the test failed.',
    example: 'ok',
  })
  text?: string;

  @ApiPropertyOptional({ description: 'True if the answer was longer than `text`, or reached its limit of tokens.' })
  truncated?: boolean;

  @ApiPropertyOptional({ type: ModelTestUsage, description: 'Absent if the provider reports no tokens.' })
  usage?: ModelTestUsage;

  @ApiPropertyOptional({ type: ModelTestFailure, description: 'Absent if the model answered.' })
  failure?: ModelTestFailure;
}

const DESCRIPTION =
  'The prompt is fixed, and the test takes at most 30 seconds. The model is asked for at most 64 tokens; a provider that ' +
  'refuses such a limit is asked again without it. Nothing is stored, and the tokens are not part of `/api/usage`. A ' +
  'failure of the model is a result (200) with `ok: false`.';

const TOO_MANY =
  'The caller has two tests under way, its tenant four, or twenty in the last minute; `Retry-After` says when to retry.';

/** Tests models with one short call at their providers, before or after they are stored. */
@ApiTags('models')
@Controller('api/models')
export class ModelTestController {
  constructor(
    private readonly store: ModelStore,
    private readonly tester: ModelTester,
    private readonly slots: ModelTestSlots,
    private readonly http: OutboundHttp,
    private readonly shutdown: Shutdown,
  ) {}

  @Post('test')
  @HttpCode(200)
  @ApiOperation({ summary: 'Tests a model without storing it.', description: DESCRIPTION })
  @ApiOkResponse({ type: ModelTestView })
  @ApiProblem(400, 'The body is malformed.')
  @ApiProblem(429, TOO_MANY)
  @ApiProblem(503, 'Too many tests are under way at this replica, or the replica is shutting down.')
  async testUnsavedModel(@Body() body: ModelBody, @Caller() caller: Caller, @Res() reply: FastifyReply): Promise<void> {
    const { name, definition } = body;
    if (definition.baseUrl !== undefined) assertCallable(this.http, definition.baseUrl, 'baseUrl');
    await this.sendResult({ tenant: caller.tenant, name, ...definition }, caller, reply);
  }

  @Post(':name/test')
  @HttpCode(200)
  @ApiOperation({ summary: 'Tests a stored model.', description: DESCRIPTION })
  @ApiOkResponse({ type: ModelTestView })
  @ApiProblem(404, 'model not found')
  @ApiProblem(429, TOO_MANY)
  @ApiProblem(503, 'Too many tests are under way at this replica, or the replica is shutting down.')
  async testModel(@Param('name') name: string, @Caller() caller: Caller, @Res() reply: FastifyReply): Promise<void> {
    const found = MODEL_NAME.test(name) && (await this.store.get({ tenant: caller.tenant, name }));
    if (!found) throw new ProblemError(404, 'model not found');
    const { createdAt: _created, updatedAt: _updated, ...tested } = found;
    await this.sendResult(tested, caller, reply);
  }

  private sendResult(tested: TestedModel, caller: Caller, reply: FastifyReply): Promise<void> {
    const { tenant, owner } = caller;
    return sendTrial(this.slots, { caller, reply, stopped: this.shutdown.started }, async (signal) =>
      testView(await this.tester.testModel(tested, { signal, reader: { tenant, owner } })),
    );
  }
}

function testView(result: ModelTestResult): ModelTestView {
  return { ok: result.failure === undefined, ...result };
}
