import {
  Body,
  type CanActivate,
  ConflictException,
  Controller,
  Delete,
  Get,
  HttpCode,
  Injectable,
  Module,
  NotFoundException,
  Param,
  Post,
  Query,
  UseGuards,
} from '@nestjs/common';
import {
  ApiBody,
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiProperty,
  ApiPropertyOptional,
  ApiTags,
} from '@nestjs/swagger';
import { ArrayMinSize, IsArray, IsInt, Matches, Max, Min } from 'class-validator';
import { ConfigurationModule } from '#libs/configuration';
import { ApiClosed, ApiProblem, EachEntry, type ProblemEntry, QueryFlag } from '#libs/http-server';
import { type A2AError, invalidParams } from '#libs/protocol';
import { AppConfig, CALLER_NAME } from '#libs/service';
import { type ApiKey, ApiKeys, type MadeKey } from './api-keys.js';
import { Authentication } from './authentication.js';
import { Caller, isPermission, type Permission, PERMISSIONS } from './caller.js';
import { EVENTS_PROTOCOL, TICKET_PROTOCOL } from './credentials.js';
import { KeyKind } from './key-kind.js';

/** API key as `/api/keys` shows it, without its secret. */
class KeyView implements ApiKey {
  @ApiProperty({ format: 'uuid', example: '0b7c6f0a-3f0e-4a49-8a57-6a7f3c1f2d11' })
  id!: string;

  @ApiProperty({ example: 'ann' })
  name!: string;

  @ApiProperty({ enum: PERMISSIONS, isArray: true, example: ['agents'] })
  scopes!: Permission[];

  @ApiProperty({ format: 'date-time' })
  createdAt!: Date;

  @ApiPropertyOptional({
    description: 'Caller who created the key; absent for keys from AUTH_API_KEYS.',
    example: 'admin',
  })
  createdBy?: string;

  @ApiPropertyOptional({ format: 'date-time', description: 'Time at which the key stops being valid.' })
  endsAt?: Date;

  @ApiPropertyOptional({
    description: 'SHA-256 of the key in hexadecimal digits; only with `hashes`.',
    example: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  })
  hash?: string;

  @ApiPropertyOptional({ format: 'date-time', description: 'Last change of the scopes; only with `hashes`.' })
  updatedAt?: Date;
}

/** Newly created API key, with its secret. */
class MadeKeyView extends KeyView implements MadeKey {
  @ApiProperty({ description: 'Key that the caller sends; only this answer shows it.', example: 'parley_…' })
  key!: string;
}

class KeyListView {
  @ApiProperty({ type: [KeyView] })
  keys!: KeyView[];
}

/** Query parameters of the list of keys. */
class KeyListQuery {
  @QueryFlag({ description: 'True to include the hashes of the keys, by which files describe them.' })
  hashes = false;
}

const MAX_OVERLAP_SECONDS = 7 * 24 * 60 * 60;
const OVERLAP = { message: `must be a whole number from 0 to ${MAX_OVERLAP_SECONDS}` };
const UNKNOWN = 'is not known';

/** Body of the request that creates a key. */
@ApiClosed()
class MakeKeyBody {
  static readonly unknown = UNKNOWN;
  static readonly exceptionFactory = keyBodyError;

  @ApiProperty({
    pattern: CALLER_NAME.source,
    description: 'Name of the caller, who owns what it creates.',
    example: 'ann',
  })
  @Matches(CALLER_NAME, { message: 'must have 1 to 128 letters, digits or ._@+-' })
  name!: string;

  @ApiPropertyOptional({ enum: PERMISSIONS, isArray: true, minItems: 1, default: ['agents'] })
  @IsArray({ message: 'must be a list' })
  @ArrayMinSize(1, { message: 'must have an entry' })
  @EachEntry(isPermission, `must be one of ${PERMISSIONS.join(', ')}`)
  scopes: Permission[] = ['agents'];
}

/** Body of the request that rotates a key. */
@ApiClosed()
class RotateKeyBody {
  static readonly optional = true;
  static readonly unknown = UNKNOWN;
  static readonly exceptionFactory = keyBodyError;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 0,
    maximum: MAX_OVERLAP_SECONDS,
    default: 0,
    description: 'Seconds for which the old key stays valid beside the new one.',
    example: 600,
  })
  @IsInt(OVERLAP)
  @Min(0, OVERLAP)
  @Max(MAX_OVERLAP_SECONDS, OVERLAP)
  overlapSeconds = 0;
}

/** Creates the error for an invalid body, with fields in dotted form: `scopes.0`, and `body` for the whole body. */
function keyBodyError(entries: ProblemEntry[]): A2AError {
  return invalidParams(
    ...entries.map(({ path, detail }) =>
      detail === UNKNOWN
        ? { field: 'body', description: `has no field "${path}"` }
        : { field: path.replaceAll(/\[(\d+)\]/g, '.$1') || 'body', description: detail },
    ),
  );
}

/**
 * Guard that refuses the management of keys unless AUTH_MODE is `api-key`: a key created in another mode would admit
 * its holder if the mode is changed later.
 */
@Injectable()
class KeysInUse implements CanActivate {
  constructor(private readonly config: AppConfig) {}

  canActivate(): boolean {
    if (this.config.auth.mode === 'api-key') return true;
    throw new ConflictException('This service does not use keys');
  }
}

/** Routes that manage the API keys of callers. They need the scope `admin` and AUTH_MODE=api-key. */
@ApiTags('keys')
@Controller('api/keys')
@UseGuards(KeysInUse)
@ApiProblem(409, 'The service does not use keys.')
class KeysController {
  constructor(private readonly keys: ApiKeys) {}

  @Post()
  @ApiOperation({ summary: 'Creates a key; only this answer shows it.' })
  @ApiCreatedResponse({ type: MadeKeyView })
  @ApiProblem(400, 'The body is malformed.')
  createKey(@Body() { name, scopes }: MakeKeyBody, @Caller() caller: Caller): Promise<MadeKeyView> {
    return this.keys.makeKey(caller, name, [...new Set(scopes)]);
  }

  @Get()
  @ApiOperation({ summary: 'Lists all keys, also expired ones, without their secrets.' })
  @ApiOkResponse({ type: KeyListView })
  @ApiProblem(400, 'A parameter is malformed.')
  async listKeys(@Query() { hashes }: KeyListQuery, @Caller() caller: Caller): Promise<KeyListView> {
    return { keys: await this.keys.listKeys(caller, hashes) };
  }

  @Post(':id/rotate')
  @ApiOperation({
    summary: 'Rotates a key: the new one has the same name and scopes, the old one expires after the overlap.',
  })
  @ApiBody({ type: RotateKeyBody, required: false })
  @ApiCreatedResponse({ type: MadeKeyView })
  @ApiProblem(400, 'The body is malformed.')
  @ApiProblem(404, 'The key does not exist or is no longer valid.')
  async rotateKey(
    @Param('id') id: string,
    @Body() { overlapSeconds }: RotateKeyBody,
    @Caller() caller: Caller,
  ): Promise<MadeKeyView> {
    const made = await this.keys.rotateKey(caller, id, overlapSeconds);
    if (!made) throw new NotFoundException();
    return made;
  }

  @Delete(':id')
  @HttpCode(204)
  @ApiOperation({ summary: 'Revokes a key: within two seconds, all replicas reject it.' })
  @ApiNoContentResponse()
  @ApiProblem(404, 'There is no such key.')
  @ApiProblem(409, 'It is the last valid key with the scope `admin`, or the service does not use keys.')
  async revokeKey(@Param('id') id: string, @Caller() caller: Caller): Promise<void> {
    if (!(await this.keys.revokeKey(caller, id))) throw new NotFoundException();
  }
}

/** Ticket that opens a WebSocket in a browser, which cannot send a header. */
class TicketView {
  @ApiProperty({ example: 'mT0vXyq0x7p3n1l9s4f6b2k8d5h7j1c3a9z0w2e4r6t' })
  ticket!: string;

  @ApiProperty({
    type: [String],
    description: 'Subprotocols for `new WebSocket(url, protocols)`.',
    example: [EVENTS_PROTOCOL, `${TICKET_PROTOCOL}mT0vXyq0x7p3n1l9s4f6b2k8d5h7j1c3a9z0w2e4r6t`],
  })
  protocols!: string[];

  @ApiProperty({ format: 'date-time' })
  expiresAt!: Date;
}

/**
 * Route that issues tickets. A ticket identifies the caller once, within thirty seconds and at every replica. It opens
 * only the event gateway's WebSocket.
 */
@ApiTags('events')
@Controller('api/tickets')
class TicketsController {
  constructor(private readonly authentication: Authentication) {}

  @Post()
  @ApiOperation({ summary: 'Creates a ticket for the WebSocket at /events; it is valid once, for thirty seconds.' })
  @ApiCreatedResponse({ type: TicketView })
  async createTicket(@Caller() caller: Caller): Promise<TicketView> {
    const { ticket, expiresAt } = await this.authentication.issueTicket(caller);
    return { ticket, protocols: [EVENTS_PROTOCOL, `${TICKET_PROTOCOL}${ticket}`], expiresAt };
  }
}

/** Provides the management of keys, and tickets. Needs AccessModule. */
@Module({ imports: [ConfigurationModule], controllers: [KeysController, TicketsController], providers: [KeyKind] })
export class AccessApiModule {}
