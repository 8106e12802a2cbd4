import {
  Body,
  Controller,
  Delete,
  Get,
  HttpCode,
  HttpException,
  NotFoundException,
  Param,
  Post,
  Req,
} from '@nestjs/common';
import { ApiBody, ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { AppConfig } from '#libs/service';
import { type ApiKey, ApiKeys, type MadeKey } from './api-keys.js';
import { PERMISSIONS } from './caller.js';
import { MAKE_KEY, readKeyBody, ROTATE_KEY } from './key-bodies.js';
import { callerOf } from './request-caller.js';

/** Keys of callers. Needs the scope `admin`, and AUTH_MODE=api-key. */
@ApiTags('keys')
@Controller('api/keys')
@ApiResponse({ status: 403, description: 'The caller lacks the scope admin.' })
@ApiResponse({ status: 409, description: 'The service does not use keys.' })
export class KeysController {
  constructor(
    private readonly keys: ApiKeys,
    private readonly config: AppConfig,
  ) {}

  @Post()
  @ApiOperation({ summary: 'Makes a key; it is shown only in this answer.' })
  @ApiBody({
    schema: {
      type: 'object',
      required: ['name'],
      properties: {
        name: { type: 'string', description: 'The caller: what it makes is owned under this name.' },
        scopes: { type: 'array', items: { type: 'string', enum: [...PERMISSIONS] }, default: ['agents'] },
      },
    },
  })
  async make(@Body() body: unknown, @Req() request: FastifyRequest): Promise<MadeKey> {
    this.requireKeys();
    const { name, scopes } = readKeyBody(MAKE_KEY, body);
    return this.keys.make(callerOf(request.raw), name, scopes);
  }

  @Get()
  @ApiOperation({ summary: 'All keys, also ended ones; never the keys themselves.' })
  async list(@Req() request: FastifyRequest): Promise<{ keys: ApiKey[] }> {
    this.requireKeys();
    return { keys: await this.keys.list(callerOf(request.raw)) };
  }

  @Post(':id/rotate')
  @ApiOperation({ summary: 'Makes a new key of the same name and scopes; the old one ends after the overlap.' })
  @ApiBody({
    required: false,
    schema: { type: 'object', properties: { overlapSeconds: { type: 'integer', minimum: 0, default: 0 } } },
  })
  async rotate(@Param('id') id: string, @Body() body: unknown, @Req() request: FastifyRequest): Promise<MadeKey> {
    this.requireKeys();
    const { overlapSeconds } = readKeyBody(ROTATE_KEY, body ?? {});
    const made = await this.keys.rotate(callerOf(request.raw), id, overlapSeconds);
    if (!made) throw unknownKey();
    return made;
  }

  @Delete(':id')
  @HttpCode(204)
  @ApiOperation({ summary: 'Revokes a key: within two seconds no replica lets it in any more.' })
  async revoke(@Param('id') id: string, @Req() request: FastifyRequest): Promise<void> {
    this.requireKeys();
    if (!(await this.keys.revoke(callerOf(request.raw), id))) throw unknownKey();
  }

  /** A key that is made while nobody is asked for one would open the door later. */
  private requireKeys(): void {
    if (this.config.auth.mode !== 'api-key') throw new HttpException('This service does not use keys', 409);
  }
}

function unknownKey(): HttpException {
  return new NotFoundException();
}
