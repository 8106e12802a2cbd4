import { Body, Controller, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOkResponse, ApiOperation, ApiProperty, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { ApiProblem, drainBody, LOCATION_HEADER, ProblemError, StreamedBody } from '#libs/http-server';
import { A2AError } from '#libs/protocol';
import { AppConfig, Metrics } from '#libs/service';
import { ArrivingBodies, MOST_BODY_BYTES } from '../delivery/arriving-bodies.js';
import { DeliveryIntake } from '../delivery/delivery-intake.js';
import { challengeOf, deliveryIdOf, type ProvenDelivery, readEvent } from '../delivery/received-event.js';
import { isSigned, readProof } from '../signatures/delivery-signature.js';
import { WebhookSecrets } from '../signatures/webhook-secrets.js';
import type { WebhookSource } from '../signatures/webhook-source.js';
import { type Trigger, Triggers } from '../storage/triggers.js';
import { DeliveryAnswerView } from './trigger-views.js';

class ChallengeView {
  @ApiProperty({ example: '3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P' })
  challenge!: string;
}

/** Receives the deliveries of webhooks. A delivery needs no key: its signature proves the sender. */
@ApiTags('triggers')
@Controller('hooks')
export class HooksController {
  private readonly counter;

  constructor(
    private readonly triggers: Triggers,
    private readonly secrets: WebhookSecrets,
    private readonly bodies: ArrivingBodies,
    private readonly intake: DeliveryIntake,
    private readonly config: AppConfig,
    metrics: Metrics,
  ) {
    this.counter = metrics.counter('parley_webhook_deliveries_total', 'Deliveries to webhooks by their outcome', [
      'outcome',
    ]);
  }

  @Post(':id')
  @HttpCode(202)
  @StreamedBody()
  @ApiOperation({ summary: 'Takes a delivery of a webhook, which starts a run. A repetition gets the same answer.' })
  @ApiAcceptedResponse({ type: DeliveryAnswerView, ...LOCATION_HEADER })
  @ApiOkResponse({ type: ChallengeView, description: 'The challenge of Slack (`url_verification`).' })
  @ApiProblem(400, 'The body is not what its type says.')
  @ApiProblem(401, 'The delivery is not signed with a secret of the webhook, or is too old.')
  @ApiProblem(404, 'There is no such webhook.')
  @ApiProblem(413, `The delivery has more than ${MOST_BODY_BYTES} bytes.`)
  @ApiProblem(422, 'The trigger gives no valid inputs for this delivery.')
  @ApiProblem(429, 'Too many deliveries wait for the ends of their runs; `Retry-After` says when to try again.')
  @ApiProblem(503, 'The database is out of reach, or too many deliveries arrive; `Retry-After` says when to try again.')
  async receiveDelivery(
    @Param('id') id: string,
    @Body() body: Readable | undefined,
    @Req() { raw }: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<DeliveryAnswerView | ChallengeView> {
    try {
      return await this.takeDelivery(id, body, raw, reply);
    } catch (error) {
      this.counter.inc({ outcome: outcomeOf(error) });
      if (body) await drainBody(body);
      throw error;
    }
  }

  private async takeDelivery(
    id: string,
    body: Readable | undefined,
    raw: IncomingMessage,
    reply: FastifyReply,
  ): Promise<DeliveryAnswerView | ChallengeView> {
    const trigger = await this.triggers.findHook(id);
    const webhook = trigger?.source.webhook;
    if (!trigger || !webhook) throw new ProblemError(404, 'webhook not found');
    if (readProof(webhook, raw.headers) === undefined) throw unsignedDelivery();
    const free = this.bodies.reserveBytes(id, announcedLength(raw));
    try {
      const delivery = await this.readProven(trigger, webhook, body, raw);
      const event = readEvent(webhook, delivery, this.config.content.jsonMembers);
      const challenge = challengeOf(webhook, event);
      if (challenge !== undefined) {
        void reply.code(200);
        return { challenge };
      }
      const deliveryId = deliveryIdOf(webhook, delivery, event);
      const answer = await this.intake.takeEvent(trigger, { deliveryId, cause: 'delivery', event });
      this.counter.inc({ outcome: answer.runId === undefined ? 'filtered' : 'accepted' });
      if (answer.runId !== undefined) void reply.header('location', `/api/runs/${answer.runId}`);
      return answer;
    } finally {
      free();
    }
  }

  /** Reads a delivery and checks its signature. @throws ProblemError 401 */
  private async readProven(
    trigger: Trigger,
    webhook: WebhookSource,
    sent: Readable | undefined,
    { headers, url = '' }: IncomingMessage,
  ): Promise<ProvenDelivery> {
    const [secrets, body] = await Promise.all([this.secrets.readSecrets(trigger), this.bodies.readBytes(sent)]);
    if (!isSigned(webhook, secrets, { headers, body }, Date.now())) throw unsignedDelivery();
    const query = url.includes('?') ? url.slice(url.indexOf('?') + 1) : '';
    return { headers, body, query };
  }
}

function outcomeOf(error: unknown): string {
  const status = error instanceof ProblemError || error instanceof A2AError ? error.status : 500;
  return status === 500 ? 'failed' : `refused_${status}`;
}

function announcedLength({ headers }: IncomingMessage): number | undefined {
  const length = headers['content-length'];
  return length === undefined ? undefined : Number(length);
}

function unsignedDelivery(): ProblemError {
  return new ProblemError(401, 'the delivery is not signed with a secret of the webhook, or is too old');
}
