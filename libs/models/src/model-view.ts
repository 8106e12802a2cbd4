import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { MODEL_PROVIDERS, type ModelProvider } from './model-settings.js';
import type { StoredModel } from './stored-model.js';

/** Model as callers see it. */
export class ModelView {
  @ApiProperty({ example: 'large' })
  name!: string;

  @ApiProperty({ enum: MODEL_PROVIDERS })
  provider!: ModelProvider;

  @ApiProperty({ example: 'gpt-large' })
  model!: string;

  @ApiPropertyOptional({ format: 'uri', example: 'https://models.example.com/v1' })
  baseUrl?: string;

  @ApiPropertyOptional({ example: 'provider-key' })
  auth?: string;

  @ApiProperty({ type: [String], example: ['image/*'] })
  input!: string[];

  @ApiProperty({ format: 'date-time' })
  createdAt!: string;

  @ApiProperty({ format: 'date-time' })
  updatedAt!: string;
}

export class ModelListView {
  @ApiProperty({ type: [ModelView] })
  models!: ModelView[];

  @ApiProperty({ description: 'Empty on the last page.', example: '' })
  nextPageToken!: string;
}

export function modelView(stored: StoredModel): ModelView {
  const { name, provider, model, baseUrl, auth, input, createdAt, updatedAt } = stored;
  return {
    name,
    provider,
    model,
    ...(baseUrl !== undefined && { baseUrl }),
    ...(auth !== undefined && { auth }),
    input,
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
}
