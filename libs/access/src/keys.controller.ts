import {
  Body,
  type CanActivate,
  ConflictException,
  Controller,
  Delete,
  Get,
  HttpCode,
  Injectable,
  NotFoundException,
  Param,
  Post,
  UseGuards,
} from '@nestjs/common';
import {
  ApiBody,
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
} from '@nestjs/swagger';
import { ApiProblem } from '#libs/http';
import { AppConfig } from '#libs/service';
import { ApiKeys } from './api-keys.js';
import { Caller } from './caller.decorator.js';
import { MakeKeyBody, RotateKeyBody } from './key-bodies.js';
import { KeyListView, MadeKeyView } from './key-views.js';

/** Refuses the management of keys unless AUTH_MODE is `api-key`: a key created now would admit its holder later. */
@Injectable()
class KeysInUse implements CanActivate {
  constructor(private readonly config: AppConfig) {}

  canActivate(): boolean {
    if (this.config.auth.mode === 'api-key') return true;
    throw new ConflictException('This service does not use keys');
  }
}

/** Manages the keys of callers. Needs the scope `admin`, and AUTH_MODE=api-key. */
@ApiTags('keys')
@Controller('api/keys')
@UseGuards(KeysInUse)
@ApiProblem(409, 'The service does not use keys.')
export class KeysController {
  constructor(private readonly keys: ApiKeys) {}

  @Post()
  @ApiOperation({ summary: 'Makes a key; it is shown only in this answer.' })
  @ApiCreatedResponse({ type: MadeKeyView })
  @ApiProblem(400, 'The body is malformed.')
  createKey(@Body() { name, scopes }: MakeKeyBody, @Caller() caller: Caller): Promise<MadeKeyView> {
    return this.keys.makeKey(caller, name, [...new Set(scopes)]);
  }

  @Get()
  @ApiOperation({ summary: 'All keys, also ended ones; never the keys themselves.' })
  @ApiOkResponse({ type: KeyListView })
  async listKeys(@Caller() caller: Caller): Promise<KeyListView> {
    return { keys: await this.keys.listKeys(caller) };
  }

  @Post(':id/rotate')
  @ApiOperation({ summary: 'Makes a new key of the same name and scopes; the old one ends after the overlap.' })
  @ApiBody({ type: RotateKeyBody, required: false })
  @ApiCreatedResponse({ type: MadeKeyView })
  @ApiProblem(400, 'The body is malformed.')
  @ApiProblem(404, 'There is no such key, or it is not valid any more.')
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
  @ApiOperation({ summary: 'Revokes a key: within two seconds no replica lets it in any more.' })
  @ApiNoContentResponse()
  @ApiProblem(404, 'There is no such key.')
  async revokeKey(@Param('id') id: string, @Caller() caller: Caller): Promise<void> {
    if (!(await this.keys.revokeKey(caller, id))) throw new NotFoundException();
  }
}
