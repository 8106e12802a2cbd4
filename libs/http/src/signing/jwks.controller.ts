import { Controller, Get, Header } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { JWK } from 'jose';
import { JWKS_PATH, SigningKeys } from './signing-keys.js';

/** Where others find the keys to verify with what this service signed. */
@ApiTags('signatures')
@Controller(JWKS_PATH)
export class JwksController {
  constructor(private readonly signing: SigningKeys) {}

  @Get()
  @Header('cache-control', 'public, max-age=300')
  @ApiOperation({ summary: 'The public keys that agent cards and push notifications are signed with (RFC 7517).' })
  keys(): Promise<{ keys: JWK[] }> {
    return this.signing.publicSet();
  }
}
