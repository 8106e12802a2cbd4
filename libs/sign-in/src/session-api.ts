import { ConflictException, Controller, Delete, Get, Header, Injectable, Post, Req, Res } from '@nestjs/common';
import {
  ApiCreatedResponse,
  ApiOkResponse,
  ApiOperation,
  ApiProperty,
  ApiPropertyOptional,
  ApiTags,
} from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Caller, ConsoleSessions, type Permission, PERMISSIONS, SessionCookies } from '#libs/access';
import { ApiProblem } from '#libs/http-server';
import { Jobs, scheduleUpkeep } from '#libs/job-queue';
import { AppConfig, type AuthMode } from '#libs/service';
import { OidcClient } from './oidc-client.js';

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

/** Response of `/api/session` to a sign-out. */
class EndedSessionView {
  @ApiPropertyOptional({
    description: "Address that ends the provider's own session; absent without a sign-in there.",
    example: 'https://id.example.com/session/end?client_id=parley',
  })
  providerUrl?: string;
}

/** Routes of the browser session that keeps a person signed in at the console. */
@ApiTags('session')
@Controller('api/session')
export class SessionController {
  constructor(
    private readonly sessions: ConsoleSessions,
    private readonly cookies: SessionCookies,
    private readonly config: AppConfig,
    private readonly oidc: OidcClient,
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
    summary: 'Signs a browser in with the key or token of this request, for twelve hours at most.',
    description:
      'The answer sets a cookie that scripts cannot read. It counts only with `X-Requested-With: parley-console`, ' +
      'and ends with the key or token.',
  })
  @ApiCreatedResponse({ type: SessionView })
  @ApiProblem(409, 'The request has the cookie of a session and no key or token, or the service needs no sign-in.')
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
  @Header('cache-control', 'no-store')
  @ApiOperation({ summary: 'Signs the browser out: the session of the request ends at every replica.' })
  @ApiOkResponse({ type: EndedSessionView })
  async endSession(
    @Req() { raw }: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<EndedSessionView> {
    const token = this.cookies.readToken(raw);
    const idToken = token === undefined ? undefined : await this.sessions.endSession(token);
    void reply.header('set-cookie', this.cookies.removedSession(raw));
    const providerUrl = idToken === undefined ? undefined : await this.oidc.endSessionUrl(idToken);
    return providerUrl === undefined ? {} : { providerUrl };
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
