import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put, Query, Res } from '@nestjs/common';
import {
  ApiAcceptedResponse,
  ApiBody,
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
} from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { type ApiCall, Call, Caller } from '#libs/access';
import { RunStartCheck } from '#libs/durable';
import { ApiProblem, cutPage, LOCATION_HEADER, namedPage, ProblemError } from '#libs/http-server';
import { DeliveryIntake } from '../delivery/delivery-intake.js';
import { WebhookSecrets } from '../signatures/webhook-secrets.js';
import { TriggerDeliveries } from '../storage/trigger-deliveries.js';
import { type Trigger, TRIGGER_NAME, type TriggerDefinition, Triggers } from '../storage/triggers.js';
import { TRIGGER_EXAMPLES, TRIGGER_REPLACEMENT_EXAMPLES } from './body-examples.js';
import { TriggerBody, TriggerReplacementBody } from './trigger-body.js';
import {
  DELIVERY_NUMBER,
  DeliveryAnswerView,
  DeliveryQuery,
  deliveryView,
  TriggerDeliveryListView,
  TriggerListView,
  TriggerQuery,
  TriggerView,
  triggerView,
} from './trigger-views.js';

/** Manages triggers: workflows that events start. They belong to the tenant. */
@ApiTags('triggers')
@Controller('api/triggers')
export class TriggersController {
  constructor(
    private readonly triggers: Triggers,
    private readonly deliveries: TriggerDeliveries,
    private readonly intake: DeliveryIntake,
    private readonly secrets: WebhookSecrets,
    private readonly check: RunStartCheck,
  ) {}

  @Post()
  @ApiOperation({ summary: 'Creates a trigger, which runs a workflow upon events.' })
  @ApiBody({ type: TriggerBody, examples: TRIGGER_EXAMPLES })
  @ApiCreatedResponse({ type: TriggerView, ...LOCATION_HEADER })
  @ApiProblem(400, 'The body is malformed.')
  @ApiProblem(409, 'A trigger of this name exists already.')
  @ApiProblem(422, 'The workflow or a credential does not exist; or the tenant has too many triggers.')
  async createTrigger(
    @Body() body: TriggerBody,
    @Caller() caller: Caller,
    @Call() { baseUrl }: ApiCall,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<TriggerView> {
    const { name, definition } = body;
    await this.requireUsable(definition, caller);
    const created = await this.triggers.createTrigger({ tenant: caller.tenant, name }, caller.owner, definition);
    if (!created) throw new ProblemError(409, `the trigger "${name}" exists already`);
    void reply.header('location', `/api/triggers/${name}`);
    return triggerView(created, baseUrl);
  }

  @Get()
  @ApiOperation({ summary: 'Lists triggers by name.' })
  @ApiOkResponse({ type: TriggerListView })
  @ApiProblem(400, 'A parameter is malformed.')
  async listTriggers(
    @Query() query: TriggerQuery,
    @Caller() { tenant }: Caller,
    @Call() { baseUrl }: ApiCall,
  ): Promise<TriggerListView> {
    const { page, nextPageToken } = cutPage(await this.triggers.listTriggers(tenant, namedPage(query)), query.pageSize);
    return { triggers: page.map((it) => triggerView(it, baseUrl)), nextPageToken };
  }

  @Get(':name')
  @ApiOperation({ summary: 'Returns one trigger.' })
  @ApiOkResponse({ type: TriggerView })
  @ApiProblem(404, 'trigger not found')
  async getTrigger(
    @Param('name') name: string,
    @Caller() { tenant }: Caller,
    @Call() { baseUrl }: ApiCall,
  ): Promise<TriggerView> {
    return triggerView(await this.findExisting(tenant, name), baseUrl);
  }

  @Put(':name')
  @ApiOperation({
    summary: 'Replaces a trigger. The caller becomes the owner of the runs to come; the address of the webhook stays.',
  })
  @ApiBody({ type: TriggerReplacementBody, examples: TRIGGER_REPLACEMENT_EXAMPLES })
  @ApiOkResponse({ type: TriggerView })
  @ApiProblem(400, 'The body is malformed.')
  @ApiProblem(404, 'trigger not found')
  @ApiProblem(422, 'The workflow or a credential does not exist.')
  async replaceTrigger(
    @Param('name') name: string,
    @Body() { definition }: TriggerReplacementBody,
    @Caller() caller: Caller,
    @Call() { baseUrl }: ApiCall,
  ): Promise<TriggerView> {
    await this.findExisting(caller.tenant, name);
    await this.requireUsable(definition, caller);
    const key = { tenant: caller.tenant, name };
    return triggerView(requireTrigger(await this.triggers.replaceTrigger(key, caller.owner, definition)), baseUrl);
  }

  @Delete(':name')
  @HttpCode(204)
  @ApiOperation({ summary: 'Deletes a trigger with its deliveries. Its runs stay, and those under way continue.' })
  @ApiNoContentResponse()
  @ApiProblem(404, 'trigger not found')
  async deleteTrigger(@Param('name') name: string, @Caller() { tenant }: Caller): Promise<void> {
    await this.findExisting(tenant, name);
    if (!(await this.triggers.delete({ tenant, name }))) throw unknownTrigger();
  }

  @Get(':name/deliveries')
  @ApiOperation({ summary: 'Lists the deliveries of a trigger, newest first: each with what came of it.' })
  @ApiOkResponse({ type: TriggerDeliveryListView })
  @ApiProblem(400, 'A parameter is malformed.')
  @ApiProblem(404, 'trigger not found')
  async listTriggerDeliveries(
    @Param('name') name: string,
    @Query() { pageSize, pageToken = '' }: DeliveryQuery,
    @Caller() { tenant }: Caller,
  ): Promise<TriggerDeliveryListView> {
    const { triggerId } = await this.findExisting(tenant, name);
    const before = pageToken === '' ? undefined : pageToken;
    const found = await this.deliveries.listDeliveries(triggerId, pageSize + 1, before);
    const { page, nextPageToken } = cutPage(found, pageSize, ({ number }) => number);
    return { deliveries: page.map(deliveryView), nextPageToken };
  }

  @Post(':name/deliveries/:number/replay')
  @HttpCode(202)
  @ApiOperation({
    summary: 'Sends a delivery again, as a new one: the trigger decides about its content as it is now.',
  })
  @ApiAcceptedResponse({ type: DeliveryAnswerView, ...LOCATION_HEADER })
  @ApiProblem(404, 'The trigger or the delivery was not found.')
  @ApiProblem(409, 'The content of the delivery is no longer kept.')
  @ApiProblem(422, 'The trigger gives no valid inputs for this delivery.')
  @ApiProblem(429, 'Too many deliveries wait for the ends of their runs; `Retry-After` says when to try again.')
  async replayDelivery(
    @Param('name') name: string,
    @Param('number') number: string,
    @Caller() { tenant }: Caller,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<DeliveryAnswerView> {
    const trigger = await this.findExisting(tenant, name);
    const delivery = DELIVERY_NUMBER.test(number) && (await this.deliveries.findDelivery(trigger.triggerId, number));
    if (!delivery) throw new ProblemError(404, 'delivery not found');
    const event = await this.deliveries.readEvent(trigger.triggerId, number);
    if (!event) throw new ProblemError(409, 'the content of the delivery is no longer kept');
    const answer = await this.intake.takeReplay(trigger, event);
    if (answer.runId !== undefined) void reply.header('location', `/api/runs/${answer.runId}`);
    return answer;
  }

  /** Requires that the workflow and the credentials of a trigger exist. @throws ProblemError 422 */
  private async requireUsable({ workflow, source }: TriggerDefinition, { tenant }: Caller): Promise<void> {
    await this.check.requireWorkflow(workflow, { tenant });
    if (source.run) await this.check.requireWorkflow(source.run.workflow, { tenant }, 'run.workflow');
    if (source.webhook) await this.secrets.requireSecrets(source.webhook, tenant);
  }

  /** Returns the trigger of a name. @throws ProblemError 404 */
  private async findExisting(tenant: string, name: string): Promise<Trigger> {
    return requireTrigger(TRIGGER_NAME.test(name) ? await this.triggers.get({ tenant, name }) : undefined);
  }
}

function requireTrigger(trigger: Trigger | undefined): Trigger {
  if (!trigger) throw unknownTrigger();
  return trigger;
}

function unknownTrigger(): ProblemError {
  return new ProblemError(404, 'trigger not found');
}
