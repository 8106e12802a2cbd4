import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { CREDENTIAL_KINDS, type Credential, type CredentialKind } from './credential.js';

class LastError {
  @ApiProperty({ format: 'date-time' })
  at!: string;

  @ApiProperty({ example: 'the agent answered 401' })
  message!: string;
}

/** Credential as it is shown: never its secret. It also has the members of its kind. */
export class CredentialView {
  @ApiProperty({ example: 'partner' })
  name!: string;

  @ApiProperty({ enum: CREDENTIAL_KINDS })
  kind!: CredentialKind;

  @ApiPropertyOptional({
    type: [String],
    description: 'The origins that it may be sent to.',
    example: ['https://api.example.com'],
  })
  hosts?: string[];

  @ApiProperty({ format: 'date-time' })
  createdAt!: string;

  @ApiProperty({ format: 'date-time' })
  updatedAt!: string;

  @ApiPropertyOptional({ format: 'date-time', description: 'To within ten seconds.' })
  lastUsedAt?: string;

  @ApiPropertyOptional({ type: LastError, description: 'Gone when the credential is replaced.' })
  lastError?: LastError;
}

export class CredentialListView {
  @ApiProperty({ type: [CredentialView] })
  credentials!: CredentialView[];

  @ApiProperty({ description: 'Empty on the last page.', example: '' })
  nextPageToken!: string;
}

export function credentialView(credential: Credential): CredentialView {
  const { name, settings, createdAt, updatedAt, lastUsedAt, lastError } = credential;
  return {
    name,
    ...settings,
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
    ...(lastUsedAt && { lastUsedAt: lastUsedAt.toISOString() }),
    ...(lastError && { lastError: { at: lastError.at.toISOString(), message: lastError.message } }),
  };
}
