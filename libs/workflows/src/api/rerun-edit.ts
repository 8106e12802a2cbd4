import { ApiProperty } from '@nestjs/swagger';
import { IsString, ValidateBy } from 'class-validator';
import { ApiClosed, withMembers } from '#libs/http-server';
import { isJsonObject, type JsonObject } from '#libs/protocol';
import { MOST_PROMPT_BYTES } from '#libs/workflow-definition';

/** Text that a rerun sends to the model of an agent node, instead of the prompt that the node would build. */
@ApiClosed()
export class RerunEdit {
  /**
   * Error text for an unknown member. Without this error, the member would be dropped and would not change the prompt.
   */
  static readonly unknown = 'is not known';

  @ApiProperty({ description: 'Agent node, or its instance, whose prompt is edited. It runs again.', example: 'draft' })
  @IsString({ message: 'must be a string' })
  node!: string;

  @ApiProperty({
    description: `Text that is sent as it is: references in it are not filled in. At most ${MOST_PROMPT_BYTES} bytes.`,
    example: 'Write two sentences about tea.',
  })
  @ValidateBy(
    { name: 'prompt', validator: { validate: isPrompt } },
    { message: `must be a text of 1 to ${MOST_PROMPT_BYTES} bytes` },
  )
  prompt!: string;

  /** Returns the members of a rerun's body, with the edit as an instance of its class. */
  static readMembers(sent: JsonObject): object {
    const { edit } = sent;
    return isJsonObject(edit) ? { ...sent, edit: withMembers(RerunEdit, edit) } : sent;
  }
}

function isPrompt(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== '' && Buffer.byteLength(value) <= MOST_PROMPT_BYTES;
}
