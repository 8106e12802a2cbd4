import { Controller, Get, Header } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { JWK } from 'jose';
import { NotificationSigner } from './notification-signer.js';

/** Where receivers of notifications find the keys to verify them with. */
@ApiTags('push')
@Controller('.well-known/jwks.json')
export class JwksController {
  constructor(private readonly signer: NotificationSigner) {}

  @Get()
  @Header('cache-control', 'public, max-age=300')
  @ApiOperation({ summary: 'The public keys that push notifications are signed with (RFC 7517).' })
  keys(): Promise<{ keys: JWK[] }> {
    return this.signer.publicKeys();
  }
}
