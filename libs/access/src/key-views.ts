import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { ApiKey, MadeKey } from './api-keys.js';
import { type Permission, PERMISSIONS } from './caller.js';

/** Key as it is shown: never the key itself. */
export class KeyView implements ApiKey {
  @ApiProperty({ format: 'uuid', example: '0b7c6f0a-3f0e-4a49-8a57-6a7f3c1f2d11' })
  id!: string;

  @ApiProperty({ example: 'ann' })
  name!: string;

  @ApiProperty({ enum: PERMISSIONS, isArray: true, example: ['agents'] })
  scopes!: Permission[];

  @ApiProperty({ format: 'date-time' })
  createdAt!: Date;

  @ApiPropertyOptional({ description: 'Who made it; absent where the environment brought it.', example: 'admin' })
  createdBy?: string;

  @ApiPropertyOptional({ format: 'date-time', description: 'From then on it is not valid.' })
  endsAt?: Date;
}

/** Newly created key. */
export class MadeKeyView extends KeyView implements MadeKey {
  @ApiProperty({ description: 'What the caller sends; it is shown only in this answer.', example: 'parley_…' })
  key!: string;
}

export class KeyListView {
  @ApiProperty({ type: [KeyView] })
  keys!: KeyView[];
}
