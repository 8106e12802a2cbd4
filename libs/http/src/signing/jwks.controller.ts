import { Controller, Get, Header } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProperty, ApiTags } from '@nestjs/swagger';
import type { JWK } from 'jose';
import { JWKS_PATH, SigningKeys } from './signing-keys.js';

class KeySetView {
  @ApiProperty({
    type: 'array',
    items: { type: 'object', additionalProperties: true },
    example: [{ kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo', kid: 'k1', use: 'sig' }],
  })
  keys!: JWK[];
}

/** Publishes the keys that verify this service's signatures. */
@ApiTags('signatures')
@Controller(JWKS_PATH)
export class JwksController {
  constructor(private readonly signing: SigningKeys) {}

  @Get()
  @Header('cache-control', 'public, max-age=300')
  @ApiOperation({ summary: 'The public keys that agent cards and push notifications are signed with (RFC 7517).' })
  @ApiOkResponse({ type: KeySetView })
  listSigningKeys(): Promise<KeySetView> {
    return this.signing.publicSet();
  }
}
