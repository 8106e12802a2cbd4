import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put, Query, Res } from '@nestjs/common';
import {
  ApiBody,
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiProperty,
  ApiTags,
} from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Caller } from '#libs/access';
import {
  ApiProblem,
  cutPage,
  LOCATION_HEADER,
  namedPage,
  ProblemError,
  QueryPageToken,
  QueryWholePageSize,
} from '#libs/http-server';
import { AppConfig } from '#libs/service';
import { LIMIT_NAME, type LimitDefinition, type StoredLimit } from '../limit.js';
import { Limits, MOST_LIMITS } from '../storage/limits.js';
import { LimitBody, LimitReplacementBody } from './limit-body.js';

/** Query of one page of the list of limits. */
class LimitQuery {
  @QueryWholePageSize(MOST_LIMITS)
  pageSize = MOST_LIMITS;

  @QueryPageToken((token) => LIMIT_NAME.test(token), 'writer')
  pageToken?: string;
}

class LimitView extends LimitBody {
  @ApiProperty({ format: 'date-time' })
  createdAt!: string;

  @ApiProperty({ format: 'date-time' })
  updatedAt!: string;
}

class LimitListView {
  @ApiProperty({ type: [LimitView] })
  limits!: LimitView[];

  @ApiProperty({ description: 'Empty on the last page.', example: '' })
  nextPageToken!: string;
}

/** Manages the limits of runs and of turns at registered agents. A change has effect at once, in all replicas. */
@ApiTags('limits')
@Controller('api/limits')
export class LimitsController {
  constructor(
    private readonly limits: Limits,
    private readonly config: AppConfig,
  ) {}

  @Post()
  @ApiOperation({ summary: 'Creates a limit, which all replicas share.' })
  @ApiCreatedResponse({ type: LimitView, ...LOCATION_HEADER })
  @ApiProblem(400, 'The body is malformed.')
  @ApiProblem(403, '`allTenants` is true, and the caller is not of `OPERATOR_TENANT`.')
  @ApiProblem(409, 'A limit of this name exists already.')
  @ApiProblem(422, 'The tenant has too many limits.')
  async createLimit(
    @Body() { name, definition }: LimitBody,
    @Caller() { tenant }: Caller,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<LimitView> {
    assertOwnTenant(definition, tenant, this.config);
    const created = await this.limits.createLimit({ tenant, name }, definition);
    if (!created) throw new ProblemError(409, `the limit "${name}" exists already`);
    void reply.header('location', `/api/limits/${name}`);
    return limitView(created);
  }

  @Get()
  @ApiOperation({ summary: 'Lists limits by name.' })
  @ApiOkResponse({ type: LimitListView })
  @ApiProblem(400, 'A parameter is malformed.')
  async listLimits(@Query() query: LimitQuery, @Caller() { tenant }: Caller): Promise<LimitListView> {
    const { page, nextPageToken } = cutPage(await this.limits.listLimits(tenant, namedPage(query)), query.pageSize);
    return { limits: page.map(limitView), nextPageToken };
  }

  @Get(':name')
  @ApiOperation({ summary: 'Returns one limit.' })
  @ApiOkResponse({ type: LimitView })
  @ApiProblem(404, 'limit not found')
  async getLimit(@Param('name') name: string, @Caller() { tenant }: Caller): Promise<LimitView> {
    return limitView(requireLimit(isLimitName(name) && (await this.limits.get({ tenant, name }))));
  }

  @Put(':name')
  @ApiOperation({ summary: 'Replaces a limit. Work that waits for it begins by the new values.' })
  @ApiBody({ type: LimitBody })
  @ApiOkResponse({ type: LimitView })
  @ApiProblem(400, 'The body is malformed.')
  @ApiProblem(403, '`allTenants` is true, and the caller is not of `OPERATOR_TENANT`.')
  @ApiProblem(404, 'limit not found')
  async replaceLimit(
    @Param('name') name: string,
    @Body() { definition }: LimitReplacementBody,
    @Caller() { tenant }: Caller,
  ): Promise<LimitView> {
    assertOwnTenant(definition, tenant, this.config);
    const replaced = isLimitName(name) && (await this.limits.replaceLimit({ tenant, name }, definition));
    return limitView(requireLimit(replaced));
  }

  @Delete(':name')
  @HttpCode(204)
  @ApiOperation({ summary: 'Deletes a limit. Work that waits for it begins.' })
  @ApiNoContentResponse()
  @ApiProblem(404, 'limit not found')
  async deleteLimit(@Param('name') name: string, @Caller() { tenant }: Caller): Promise<void> {
    requireLimit(isLimitName(name) && (await this.limits.delete({ tenant, name })));
  }
}

/** Refuses a limit of all tenants if the caller is not of the operator's tenant. @throws ProblemError 403 */
export function assertOwnTenant({ allTenants }: LimitDefinition, tenant: string, config: AppConfig): void {
  if (allTenants === true && tenant !== config.operatorTenant)
    throw new ProblemError(403, 'allTenants: only callers of OPERATOR_TENANT may limit all tenants');
}

function isLimitName(name: string): boolean {
  return LIMIT_NAME.test(name);
}

function requireLimit<T>(found: T | false | undefined): T {
  if (found === undefined || found === false) throw new ProblemError(404, 'limit not found');
  return found;
}

function limitView({ tenant: _tenant, createdAt, updatedAt, ...limit }: StoredLimit): LimitView {
  return { ...limit, createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() } as LimitView;
}
