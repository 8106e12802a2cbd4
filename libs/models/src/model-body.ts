import { ApiClosed, EachEntry, malformedRequest, withMembers } from '#libs/http';
import { isPlainText, LONGEST_URL, TOO_LONG_URL, withoutTrailing } from '#libs/protocol';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsIn, IsString, Matches, MaxLength, ValidateIf } from 'class-validator';
import { ECHO_MODEL } from './echo-model.js';
import { MODEL_PROVIDERS, type ModelProvider } from './model-settings.js';
import { MODEL_NAME, type ModelDefinition } from './stored-model.js';

const MOST_MEDIA_TYPES = 20;
const MEDIA_TYPE = /^[a-z]+\/(\*|[a-z0-9][a-z0-9.+-]{0,100})$/;
const NAME_AT_PROVIDER = /^[\x21-\x7e]{1,200}$/;
const NAME_FORM = 'must be 1 to 64 letters, digits, underscores or hyphens, and not begin with a hyphen';

/** Model as callers send it. */
@ApiClosed()
export class ModelBody {
  static readonly unknown: string = 'is not a field of a model';

  @ApiProperty({ pattern: MODEL_NAME.source, example: 'large', description: 'By which nodes name it; never `echo`.' })
  @Matches(MODEL_NAME, { message: NAME_FORM })
  name!: string;

  @ApiProperty({ enum: MODEL_PROVIDERS })
  @IsIn(MODEL_PROVIDERS, { message: `must be one of ${MODEL_PROVIDERS.join(', ')}` })
  provider!: ModelProvider;

  @ApiProperty({ pattern: NAME_AT_PROVIDER.source, example: 'gpt-large', description: 'Its name at the provider.' })
  @Matches(NAME_AT_PROVIDER, { message: 'must be 1 to 200 visible ASCII characters without spaces' })
  model!: string;

  @ApiPropertyOptional({
    format: 'uri',
    maxLength: LONGEST_URL,
    description: 'Where the provider is; needed for `openai-compatible`, as `https://models.example.com/v1`.',
    example: 'https://models.example.com/v1',
  })
  @IfGiven()
  @MaxLength(LONGEST_URL, { message: TOO_LONG_URL })
  @IsString({ message: 'must be a string' })
  baseUrl?: string;

  @ApiPropertyOptional({
    pattern: MODEL_NAME.source,
    description:
      'The name of the credential that calls carry: `bearer` for OpenAI, `api-key` for Anthropic and Google.',
    example: 'provider-key',
  })
  @IfGiven()
  @Matches(MODEL_NAME, { message: 'must be the name of a credential' })
  auth?: string;

  @ApiPropertyOptional({
    type: [String],
    maxItems: MOST_MEDIA_TYPES,
    default: [],
    description: 'Media types of Parts that it takes beside text and data.',
    example: ['image/*', 'application/pdf'],
  })
  @IfGiven()
  @IsArray({ message: 'must be an array' })
  @ArrayMaxSize(MOST_MEDIA_TYPES, { message: `must have at most ${MOST_MEDIA_TYPES} entries` })
  @EachEntry((it) => typeof it === 'string' && MEDIA_TYPE.test(it), 'must be a media type such as image/png or image/*')
  input?: string[];

  static from(sent: object): ModelBody {
    return withMembers(ModelBody, sent);
  }

  /** Definition to store. @throws ProblemError 400 */
  get definition(): ModelDefinition {
    const { provider, model, auth, input = [] } = this;
    const baseUrl = this.baseUrl === undefined ? undefined : withoutTrailing(this.baseUrl, '/');
    if (this.name === ECHO_MODEL) throw malformedRequest({ path: 'name', detail: 'is that of the built-in model' });
    if (baseUrl === undefined && provider === 'openai-compatible')
      throw malformedRequest({ path: 'baseUrl', detail: 'is required: an OpenAI-compatible model may be anywhere' });
    if (baseUrl !== undefined && !isPlainHttpUrl(baseUrl))
      throw malformedRequest({
        path: 'baseUrl',
        detail: 'must be an http or https URL without credentials, query or fragment',
      });
    return {
      provider,
      model,
      ...(baseUrl !== undefined && { baseUrl }),
      ...(auth !== undefined && { auth }),
      input: [...new Set(input)],
    };
  }
}

/** Replacement of a model. Its name comes from the path; a name in the body is ignored. */
export class ModelReplacement extends ModelBody {
  static override from(sent: object): ModelBody {
    return withMembers(ModelBody, { ...sent, name: 'named-by-its-path' });
  }
}

function IfGiven(): PropertyDecorator {
  return ValidateIf((_body, value) => value !== undefined);
}

function isPlainHttpUrl(text: string): boolean {
  if (!isPlainText(text) || !URL.canParse(text)) return false;
  const { protocol, username, password, hash, search } = new URL(text);
  return /^https?:$/.test(protocol) && `${username}${password}${hash}${search}` === '';
}
