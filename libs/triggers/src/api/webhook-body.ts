import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, ArrayMinSize, IsArray, IsIn, IsString, Matches, MaxLength } from 'class-validator';
import { ApiClosed, EachEntry, IfGiven, type ProblemEntry } from '#libs/http-server';
import {
  HMAC_ALGORITHMS,
  HMAC_ENCODINGS,
  type HmacAlgorithm,
  type HmacEncoding,
  WEBHOOK_SCHEMES,
  type WebhookScheme,
  type WebhookSource,
} from '../signatures/webhook-source.js';

const CREDENTIAL_NAME = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/;
const HEADER_NAME = /^[A-Za-z0-9-]{1,64}$/;
const HEADER_RULE = 'must be the name of a header: 1 to 64 letters, digits or hyphens';
const MOST_SECRETS = 2;
/** Members that only some schemes have, with these schemes. */
const MEMBERS_OF: readonly (readonly [keyof WebhookSource, readonly WebhookScheme[]])[] = [
  ['header', ['hmac', 'bearer']],
  ['algorithm', ['hmac']],
  ['encoding', ['hmac']],
  ['prefix', ['hmac']],
  ['idHeader', ['hmac', 'bearer']],
];

const isCredentialName = (name: unknown): boolean => typeof name === 'string' && CREDENTIAL_NAME.test(name);

/** Webhook of a trigger, as callers of the API send it. */
@ApiClosed()
export class WebhookSourceBody implements WebhookSource {
  static readonly unknown = 'is not a field of a webhook';

  @ApiProperty({ enum: WEBHOOK_SCHEMES, example: 'github', description: 'Way in which the sender proves a delivery.' })
  @IsIn(WEBHOOK_SCHEMES, { message: `must be one of ${WEBHOOK_SCHEMES.join(', ')}` })
  scheme!: WebhookScheme;

  @ApiProperty({
    type: [String],
    minItems: 1,
    maxItems: MOST_SECRETS,
    example: ['github-push'],
    description:
      'Names of one or two credentials of the kind `bearer`, whose tokens are the secrets. Both are valid, so a secret ' +
      'can be replaced without a gap.',
  })
  @IsArray({ message: 'must be an array' })
  @ArrayMinSize(1, { message: `must have 1 or ${MOST_SECRETS} entries` })
  @ArrayMaxSize(MOST_SECRETS, { message: `must have 1 or ${MOST_SECRETS} entries` })
  @EachEntry(isCredentialName, 'must be the name of a credential')
  secrets!: string[];

  @ApiPropertyOptional({
    pattern: HEADER_NAME.source,
    example: 'X-Signature',
    description: 'Header with the signature (`hmac`, required) or with the token (`bearer`; default: `Authorization`).',
  })
  @IfGiven()
  @Matches(HEADER_NAME, { message: HEADER_RULE })
  header?: string;

  @ApiPropertyOptional({ enum: HMAC_ALGORITHMS, description: 'Algorithm of `hmac`; default: `sha256`.' })
  @IfGiven()
  @IsIn(HMAC_ALGORITHMS, { message: `must be one of ${HMAC_ALGORITHMS.join(', ')}` })
  algorithm?: HmacAlgorithm;

  @ApiPropertyOptional({ enum: HMAC_ENCODINGS, description: 'Encoding of the signature of `hmac`; default: `hex`.' })
  @IfGiven()
  @IsIn(HMAC_ENCODINGS, { message: `must be one of ${HMAC_ENCODINGS.join(', ')}` })
  encoding?: HmacEncoding;

  @ApiPropertyOptional({ maxLength: 64, example: 'sha256=', description: 'Text before the signature of `hmac`.' })
  @IfGiven()
  @IsString({ message: 'must be a text' })
  @MaxLength(64, { message: 'must have at most 64 characters' })
  prefix?: string;

  @ApiPropertyOptional({
    pattern: HEADER_NAME.source,
    example: 'X-Delivery-Id',
    description: 'Header with the id of a delivery (`hmac`, `bearer`). Default: deliveries with equal bodies are one.',
  })
  @IfGiven()
  @Matches(HEADER_NAME, { message: HEADER_RULE })
  idHeader?: string;
}

/** Finds the members of a webhook that its scheme does not have, or that it needs. */
export function findSchemeProblems(source: WebhookSource): ProblemEntry[] {
  const { scheme, header } = source;
  const strange = MEMBERS_OF.filter(([member, schemes]) => source[member] !== undefined && !schemes.includes(scheme));
  const problems = strange.map(([member, schemes]) => ({
    path: `webhook.${member}`,
    detail: `is a field of the schemes ${schemes.join(' and ')} only`,
  }));
  const isMissing = scheme === 'hmac' && header === undefined;
  return isMissing ? [...problems, { path: 'webhook.header', detail: 'is required for the scheme hmac' }] : problems;
}
