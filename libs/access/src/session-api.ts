import {
  ConflictException,
  Controller,
  Delete,
  Get,
  Header,
  HttpCode,
  Injectable,
  Post,
  Req,
  Res,
} from '@nestjs/common';
import {
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiProperty,
  ApiPropertyOptional,
  ApiTags,
} from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiProblem } from '#libs/http-server';
import { Jobs, scheduleUpkeep } from '#libs/job-queue';
import { AppConfig, type AuthMode } from '#libs/service';
import { Caller, type Permission, PERMISSIONS } from './caller.js';
import { ConsoleSessions } from './console-sessions.js';
import { SessionCookies } from './session-cookies.js';

const AUTH_MODES = ['none', 'api-key', 'jwt'] as const satisfies readonly AuthMode[];

/** Caller of a request, as `/api/session` shows it. */
class SessionView {
  @ApiProperty({ enum: AUTH_MODES, description: 'How callers authenticate (AUTH_MODE).', example: 'api-key' })
  authentication!: AuthMode;

  @ApiProperty({ description: 'Name of the caller; empty without authentication.', example: 'ann' })
  caller!: string;

  @ApiProperty({ description: 'Tenant of the caller; empty if the service has one tenant.', example: '' })
  tenant!: string;

  @ApiProperty({ enum: PERMISSIONS, isArray: true, example: ['agents'] })
  scopes!: Permission[];

  @ApiProperty({ description: "True if the caller is known by a session's cookie.", example: true })
  signedIn!: boolean;

  @ApiPropertyOptional({ format: 'date-time', description: 'Time at which the session or the token ends.' })
  endsAt?: Date;
}

/** Routes of the session by which a browser keeps a person signed in at the console. */
@ApiTags('session')
@Controller('api/session')
export class SessionController {
  constructor(
    private readonly sessions: ConsoleSessions,
    private readonly cookies: SessionCookies,
    private readonly config: AppConfig,
  ) {}

  @Get()
  @Header('cache-control', 'no-store')
  @ApiOperation({ summary: 'Returns the caller, and until when it is signed in.' })
  @ApiOkResponse({ type: SessionView })
  getSession(@Caller() caller: Caller): SessionView {
    return this.viewOf(caller);
  }

  @Post()
  @Header('cache-control', 'no-store')
  @ApiOperation({
    summary: 'Signs a browser in with the key or token of this request, for twelve hours.',
    description:
      'The answer sets a cookie that scripts cannot read. It counts only with `X-Requested-With: parley-console`, ' +
      'and ends with the key or token.',
  })
  @ApiCreatedResponse({ type: SessionView })
  @ApiProblem(409, 'The request has no key or token of its own, such as that of a session.')
  @ApiProblem(503, 'There are too many sessions.')
  async createSession(
    @Caller() caller: Caller,
    @Req() { raw }: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SessionView> {
    const { mode } = this.config.auth;
    const { proof } = caller;
    if (mode === 'none' || proof === undefined) throw new ConflictException('This service requires no sign-in');
    if (proof.session !== undefined) throw new ConflictException('A session cannot create another one');
    const { token, endsAt } = await this.sessions.createSession(caller, mode);
    void reply.header('set-cookie', this.cookies.sessionCookie(raw, token, endsAt));
    return { ...this.viewOf(caller), signedIn: true, endsAt };
  }

  @Delete()
  @HttpCode(204)
  @ApiOperation({ summary: 'Signs the browser out: the session of the request ends at every replica.' })
  @ApiNoContentResponse()
  async endSession(
    @Caller() { proof }: Caller,
    @Req() { raw }: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    if (proof?.session !== undefined) await this.sessions.endSession(proof.session);
    void reply.header('set-cookie', this.cookies.removedSession(raw));
  }

  private viewOf({ tenant, owner, permissions, proof }: Caller): SessionView {
    return {
      authentication: this.config.auth.mode,
      caller: owner,
      tenant,
      scopes: [...permissions],
      signedIn: proof?.session !== undefined,
      ...(proof?.endsAt !== undefined && { endsAt: new Date(proof.endsAt) }),
    };
  }
}

const UPKEEP = { name: 'access.sessions', match: '*/10 * * * *' };

/** Job that deletes ended sessions of the console. */
@Injectable()
export class SessionUpkeepJob {
  constructor(jobs: Jobs, sessions: ConsoleSessions) {
    scheduleUpkeep(jobs, UPKEEP, async () => void (await sessions.deleteEnded()));
  }
}
