import { ApiPropertyOptional } from '@nestjs/swagger';
import { refuseTooDeep } from '#libs/http';
import { isJsonObject, type JsonObject } from '#libs/protocol';
import { IsObject, IsOptional } from 'class-validator';

/** What a run starts with. */
export class RunBody {
  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    description: 'The inputs by node id.',
    example: { topic: 'hello world' },
  })
  @IsOptional()
  @IsObject({ message: 'must be an object' })
  inputs?: JsonObject;

  static from({ inputs }: JsonObject): RunBody {
    return Object.assign(new RunBody(), { inputs });
  }

  /**
   * Row F2: what is no object with an object of inputs stands for no inputs.
   * @throws ProblemError 400 only for inputs that are nested too deep
   */
  static lenient(body: unknown): RunBody {
    refuseTooDeep(body);
    const inputs = isJsonObject(body) && isJsonObject(body.inputs) ? body.inputs : {};
    return RunBody.from({ inputs });
  }
}
