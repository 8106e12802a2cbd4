import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsObject, IsString, Matches, MaxLength, ValidateBy, ValidateNested } from 'class-validator';
import { ApiClosed, IfGiven, malformedRequest, type ProblemEntry, withMembers } from '#libs/http-server';
import { isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';
import { CompiledRules } from '../delivery/trigger-rules.js';
import { kindOf, TRIGGER_NAME, type TriggerDefinition, type TriggerSource } from '../storage/triggers.js';
import { EndedRunBody } from './ended-run-body.js';
import { findSchemeProblems, WebhookSourceBody } from './webhook-body.js';

const NAME_RULE = 'must be 1 to 64 letters, digits, underscores or hyphens, and not begin with a hyphen';
/** Maximum number of characters of a condition. */
const LONGEST_WHEN = 2_000;
/** Maximum number of characters of the inputs as they are written, as JSON. */
const LONGEST_MAPPING = 16_384;

/** Trigger, as callers of the API send it. */
@ApiClosed()
export class TriggerBody {
  static readonly unknown = 'is not a field of a trigger';

  @ApiProperty({ pattern: TRIGGER_NAME.source, example: 'on-push' })
  @Matches(TRIGGER_NAME, { message: NAME_RULE })
  name!: string;

  @ApiProperty({ pattern: TRIGGER_NAME.source, example: 'greeting', description: 'Name of the workflow that is run.' })
  @Matches(TRIGGER_NAME, { message: 'must be the name of a workflow' })
  workflow!: string;

  @ApiPropertyOptional({ type: WebhookSourceBody, description: 'Source of events: requests to the address `url`.' })
  @IfGiven()
  @ValidateNested({ message: 'must be an object' })
  webhook?: WebhookSourceBody;

  @ApiPropertyOptional({
    type: EndedRunBody,
    description: 'Source of events: ends of runs. Exactly one of `webhook` and `run` is given.',
  })
  @IfGiven()
  @ValidateNested({ message: 'must be an object' })
  run?: EndedRunBody;

  @ApiPropertyOptional({
    maxLength: LONGEST_WHEN,
    example: "body.ref == 'refs/heads/main'",
    description: 'CEL condition on an event; other events start no run. Without it, each event starts a run.',
  })
  @IfGiven()
  @IsString({ message: 'must be a text' })
  @MaxLength(LONGEST_WHEN, { message: `must have at most ${LONGEST_WHEN} characters` })
  when?: string;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    default: {},
    description: `Inputs of the run, with CEL expressions as \`\${…}\`; at most ${LONGEST_MAPPING} characters as JSON.`,
    example: { name: '${body.sender.login}' },
  })
  @IfGiven()
  @IsObject({ message: 'must be an object' })
  @ValidateBy(
    { name: 'inputsSize', validator: { validate: (value) => JSON.stringify(value)?.length <= LONGEST_MAPPING } },
    { message: `must have at most ${LONGEST_MAPPING} characters as JSON` },
  )
  inputs?: JsonObject;

  static from(sent: object): TriggerBody {
    const { webhook, run } = sent as { webhook?: JsonValue; run?: JsonValue };
    return Object.assign(new this(), sent, {
      ...(webhook !== undefined && {
        webhook: isJsonObject(webhook) ? withMembers(WebhookSourceBody, webhook) : webhook,
      }),
      ...(run !== undefined && { run: isJsonObject(run) ? withMembers(EndedRunBody, run) : run }),
    });
  }

  /** Returns the definition with its defaults. @throws ProblemError 400 with an entry for each problem */
  get definition(): TriggerDefinition {
    const { workflow, when, inputs = {} } = this;
    const rules = { ...(when !== undefined && { when }), inputs };
    const { source, problems } = this.readSource();
    const compiled = CompiledRules.compileRules(rules, kindOf(source));
    const all = Array.isArray(compiled) ? [...problems, ...compiled] : problems;
    if (all.length > 0) throw malformedRequest(...all);
    return { workflow, source, rules };
  }

  private readSource(): { source: TriggerSource; problems: ProblemEntry[] } {
    const webhook = this.webhook && { ...this.webhook };
    const run = this.run && { workflow: this.run.workflow, statuses: this.run.statuses ?? ['completed'] };
    const source = { ...(webhook && { webhook }), ...(run && { run }) };
    const isOne = (webhook === undefined) !== (run === undefined);
    const count = isOne ? [] : [{ path: '', detail: 'exactly one of webhook and run is required' }];
    return { source, problems: [...count, ...(webhook ? findSchemeProblems(webhook) : [])] };
  }
}

/** Body that replaces a trigger. The name comes from the path; a name in the body is ignored. */
@ApiClosed()
export class TriggerReplacementBody extends TriggerBody {
  static override from(sent: object): TriggerBody {
    return super.from({ ...sent, name: 'named-by-its-path' });
  }
}
