import { applyDecorators } from '@nestjs/common';
import { ApiBody, ApiExtraModels, ApiProperty, ApiPropertyOptional, getSchemaPath } from '@nestjs/swagger';
import { ArrayMaxSize, ArrayMinSize, IsArray, IsIn, ValidateBy, type ValidationArguments } from 'class-validator';
import { ApiClosed, EachEntry, IfGiven, malformedRequest, withMembers, readBody } from '#libs/http-server';
import { LONGEST_URL, type JsonObject } from '#libs/protocol';
import {
  type ApiKeySettings,
  CREDENTIAL_KINDS,
  CREDENTIAL_NAME,
  type CredentialKind,
  type CredentialSettings,
  type OAuth2Settings,
  originOf,
} from './credential.js';
import { isToken, mayCarrySecret } from './placement.js';

/** Condition on a text, and the detail reported if it fails. */
export type Check = readonly [test: (text: string, body: object) => boolean, detail: string];

const MAX_SECRET = 8_192;
const MAX_TEXT = 512;
/** Characters of a header value without spaces. */
const VISIBLE = /^[\x21-\x7e]+$/;
/** Text that is not empty and has no control characters. */
const PRINTABLE = /^\P{Cc}+$/u;

const printable: Check = [(text) => PRINTABLE.test(text), 'must not be empty or have control characters'];

/** Validates a text by checks in order; the detail of the first one that fails is reported. */
function CheckedText(...checks: Check[]): PropertyDecorator {
  const faultOf = (value: unknown, body: object): string | undefined => {
    if (value === undefined) return 'is required';
    if (typeof value !== 'string') return 'must be a string';
    return checks.find(([test]) => !test(value, body))?.[1];
  };
  const validate = (value: unknown, args?: ValidationArguments): boolean =>
    faultOf(value, args?.object ?? {}) === undefined;
  return ValidateBy(
    { name: 'text', validator: { validate } },
    { message: ({ value, object }) => faultOf(value, object) ?? '' },
  );
}

/** Validates a text that is at most as long as a name may be. */
function ShortText(...checks: Check[]): PropertyDecorator {
  return CheckedText(atMost(MAX_TEXT), printable, ...checks);
}

/** Validates a secret that is sent unchanged, such as in a header. */
function HeaderSecret(): PropertyDecorator {
  return CheckedText(atMost(MAX_SECRET), [
    (text) => VISIBLE.test(text),
    'must be visible ASCII characters without spaces',
  ]);
}

/** Validates a secret that is encoded before it is sent. */
function TextSecret(): PropertyDecorator {
  return CheckedText(atMost(MAX_SECRET), printable);
}

/** Validates a list of at most `most` texts. An entry that fails `test` is reported with its index and `detail`. */
function TextList(most: number, test: (text: string) => boolean, detail: string): PropertyDecorator {
  return applyDecorators(
    IsArray({ message: 'must be an array' }),
    ArrayMaxSize(most, { message: `must have at most ${most} entries` }),
    EachEntry((it) => typeof it === 'string' && test(it), detail),
  );
}

function atMost(characters: number): Check {
  return [(text) => text.length <= characters, `must have at most ${characters} characters`];
}

const ONE_OF_THE_KINDS = { path: 'kind', detail: `must be one of ${CREDENTIAL_KINDS.join(', ')}` };
const MAX_HOSTS = 20;
const MAX_SCOPES = 50;
/** `scope-token` of RFC 6749, section 3.3. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]{1,256}$/;

/** Credential as callers send it, in the form of its kind. */
export abstract class CredentialBody {
  static readonly unknown = 'is not a field of this kind';

  @ApiProperty({ pattern: CREDENTIAL_NAME.source, example: 'partner' })
  @CheckedText([
    (text) => CREDENTIAL_NAME.test(text),
    'must be 1 to 64 letters, digits, underscores or hyphens, and not begin with a hyphen',
  ])
  name!: string;

  @IsIn(CREDENTIAL_KINDS)
  kind!: CredentialKind;

  @ApiPropertyOptional({
    type: [String],
    minItems: 1,
    maxItems: MAX_HOSTS,
    description:
      'Hosts that receive the credential: `api.example.com` (https), `api.example.com:8443`, or an origin such as ' +
      '`http://localhost:9000`. Default: the origin of the URL by which a workflow names the agent.',
    example: ['api.example.com'],
  })
  @IfGiven()
  @ArrayMinSize(1, { message: 'must have an entry; leave it out for the origin of the agent' })
  @TextList(
    MAX_HOSTS,
    (entry) => originOf(entry) !== undefined,
    'must be a host such as api.example.com, optionally with a port, or an origin',
  )
  hosts?: string[];

  /**
   * Creates the body of the class for `sent.kind`. If the kind is unknown, no other member of `sent` is checked.
   * @throws ProblemError 400 for an unknown kind
   */
  static from(sent: { kind?: unknown }): CredentialBody {
    const found = CREDENTIAL_FORMS.find(({ kind }) => kind === sent.kind);
    if (!found) throw malformedRequest(ONE_OF_THE_KINDS);
    return withMembers<CredentialBody>(found.form, sent);
  }

  /** Settings of the credential, which are stored and shown. */
  abstract get settings(): CredentialSettings;

  /** Secret of the credential, which is stored encrypted (sealed). */
  abstract get secret(): string;

  protected get bound(): Pick<CredentialSettings, 'hosts'> {
    return this.hosts === undefined ? {} : { hosts: [...new Set(this.hosts.map((it) => originOf(it) ?? it))] };
  }
}

/**
 * Credential that replaces a stored one. The path of the request names the credential; a name in the body is ignored.
 */
export abstract class ReplacementBody extends CredentialBody {
  static override from(sent: object): CredentialBody {
    const named: object = { ...sent, name: 'named-by-its-path' };
    return CredentialBody.from(named);
  }
}

@ApiClosed()
class ApiKeyBody extends CredentialBody {
  @ApiProperty({ enum: ['api-key'] })
  override kind = 'api-key' as const;

  @ApiPropertyOptional({ enum: ['header', 'query', 'cookie'], default: 'header' })
  @IsIn(['header', 'query', 'cookie'], { message: 'must be header, query or cookie' })
  in: ApiKeySettings['in'] = 'header';

  @ApiPropertyOptional({
    type: String,
    description: 'Name of the header, query parameter or cookie, unless the card of the agent names another place.',
    default: 'X-API-Key',
  })
  @CheckedText(
    atMost(128),
    [
      (text, body) => !isIn(body, 'header') || mayCarrySecret(text),
      'must be the name of a header that may carry a key',
    ],
    [(text, body) => !isIn(body, 'cookie') || isToken(text), 'must be the name of a cookie that may carry a key'],
    [
      (text, body) => !isIn(body, 'query') || VISIBLE.test(text),
      'must be the name of a query parameter that may carry a key',
    ],
  )
  parameter = 'X-API-Key';

  @ApiProperty({ writeOnly: true, example: 'k3y' })
  @HeaderSecret()
  value!: string;

  get settings(): CredentialSettings {
    return { kind: 'api-key', in: this.in, parameter: this.parameter, ...this.bound };
  }

  get secret(): string {
    return this.value;
  }
}

@ApiClosed()
class BearerBody extends CredentialBody {
  @ApiProperty({ enum: ['bearer'] })
  override kind = 'bearer' as const;

  @ApiProperty({ writeOnly: true, example: 't0k3n' })
  @HeaderSecret()
  token!: string;

  get settings(): CredentialSettings {
    return { kind: 'bearer', ...this.bound };
  }

  get secret(): string {
    return this.token;
  }
}

@ApiClosed()
class BasicBody extends CredentialBody {
  @ApiProperty({ enum: ['basic'] })
  override kind = 'basic' as const;

  /** User name of Basic authentication. It has no colon, since a colon would end the name (RFC 7617, section 2). */
  @ApiProperty({ example: 'ann' })
  @ShortText([(text) => !text.includes(':'), 'must not have a colon'])
  username!: string;

  @ApiProperty({ writeOnly: true, example: 'p4ssw0rd' })
  @TextSecret()
  password!: string;

  get settings(): CredentialSettings {
    return { kind: 'basic', username: this.username, ...this.bound };
  }

  get secret(): string {
    return this.password;
  }
}

@ApiClosed()
export class OAuth2Body extends CredentialBody {
  @ApiProperty({ enum: ['oauth2-client-credentials'] })
  override kind = 'oauth2-client-credentials' as const;

  @ApiProperty({ format: 'uri', example: 'https://login.example.com/token' })
  @CheckedText(atMost(LONGEST_URL), [isPlainHttpUrl, 'must be an http or https URL without credentials or fragment'])
  tokenUrl!: string;

  @ApiProperty({ example: 'parley' })
  @ShortText()
  clientId!: string;

  @ApiProperty({ writeOnly: true, example: 's3cr3t' })
  @TextSecret()
  clientSecret!: string;

  @ApiPropertyOptional({ type: [String], maxItems: MAX_SCOPES, default: [], example: ['agents.read'] })
  @TextList(MAX_SCOPES, (it) => SCOPE.test(it), 'must be a scope')
  scopes: string[] = [];

  @ApiPropertyOptional({ example: 'https://api.example.com' })
  @IfGiven()
  @ShortText()
  audience?: string;

  @ApiPropertyOptional({ enum: ['basic', 'body'], default: 'basic' })
  @IsIn(['basic', 'body'], { message: 'must be basic or body' })
  clientAuthentication: OAuth2Settings['clientAuthentication'] = 'basic';

  get settings(): OAuth2Settings {
    const { tokenUrl, clientId, scopes, audience, clientAuthentication } = this;
    const more = { ...(audience !== undefined && { audience }), clientAuthentication };
    return { kind: 'oauth2-client-credentials', tokenUrl, clientId, scopes, ...more, ...this.bound };
  }

  get secret(): string {
    return this.clientSecret;
  }
}

/** Classes of the bodies, by kind. */
const CREDENTIAL_FORMS = [
  { kind: 'api-key', form: ApiKeyBody },
  { kind: 'bearer', form: BearerBody },
  { kind: 'basic', form: BasicBody },
  { kind: 'oauth2-client-credentials', form: OAuth2Body },
] as const;

/** Documents in the OpenAPI description that the request body is a credential of any kind. */
export function ApiCredentialBody(): MethodDecorator {
  const forms = CREDENTIAL_FORMS.map(({ form }) => form);
  const oneOf = forms.map((form) => ({ $ref: getSchemaPath(form) }));
  return applyDecorators(ApiExtraModels(...forms), ApiBody({ schema: { oneOf } }));
}

function isIn(body: object, place: ApiKeySettings['in']): boolean {
  return 'in' in body && body.in === place;
}

function isPlainHttpUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, hash } = new URL(text);
  return /^https?:$/.test(protocol) && `${username}${password}${hash}` === '';
}

/** Reads a credential that a caller sent. @throws ProblemError 400 with one entry for each member at fault */
export function readCredential(sent: JsonObject): CredentialBody {
  return readBody(CredentialBody as unknown as new () => CredentialBody, sent);
}
