import { Body, Controller, HttpCode, Param, Post, Req } from '@nestjs/common';
import { ApiHeader, ApiNoContentResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { ApiProblem, drainBody, ProblemError, StreamedBody } from '#libs/http-server';
import { type RegisteredAgent, RegisteredAgents } from '../agents/registered-agents.js';
import { NotificationSignatures } from '../relay/notification-signatures.js';
import { RelayWebhooks, retryForNotification, WEBHOOK_ROOT } from '../relay/relay-webhooks.js';

/** Maximum bytes of a notification. */
const MOST_BYTES = 1024 * 1024;
/** Headers in which agents send the token of a webhook. */
const TOKEN_HEADERS = ['x-a2a-notification-token', 'a2a-notification-token'];
const LONGEST_TOKEN = 256;
const SIGNATURE_HEADER = 'x-a2a-notification-signature';
const ID_HEADER = 'x-a2a-notification-id';
/** Beginning of the path of every registered agent; the name of the agent follows. */
const AGENTS_ROOT = 'agents/';

/** Receives the push notifications that registered agents send about parked Tasks. */
@ApiTags('agents')
@Controller(WEBHOOK_ROOT)
export class AgentNotificationsController {
  constructor(
    private readonly webhooks: RelayWebhooks,
    private readonly agents: RegisteredAgents,
    private readonly signatures: NotificationSignatures,
  ) {}

  @Post(':id')
  @HttpCode(204)
  @StreamedBody()
  @ApiOperation({
    summary: 'Takes a push notification of a registered agent. The content is read from the agent itself.',
  })
  @ApiHeader({ name: 'X-A2A-Notification-Token', description: 'Token of the webhook.', required: true })
  @ApiNoContentResponse()
  @ApiProblem(403, 'The token is missing, or is not that of the webhook; or the signature is wrong.')
  @ApiProblem(410, 'The webhook is out of use: the task has a newer one, or was deleted.')
  @ApiProblem(503, 'The database or the JWK Set of the agent is out of reach; `Retry-After` says when to try again.')
  @ApiProblem(413, `The notification has more than ${MOST_BYTES} bytes.`)
  async receiveAgentNotification(
    @Param('id') id: string,
    @Body() body: Readable | undefined,
    @Req() { raw }: FastifyRequest,
  ): Promise<void> {
    try {
      await retryForNotification(() => this.requireToken(id, raw.headers));
      await this.requireSigned(id, raw.headers, await readBody(body, raw.headers[SIGNATURE_HEADER] !== undefined));
    } catch (error) {
      if (body) await drainBody(body);
      throw error;
    }
    if ((await this.webhooks.takeNotification(id)) === 'stale') throw stale();
  }

  /** Rejects a notification without the token of its webhook. @throws ProblemError 403 */
  private async requireToken(id: string, headers: IncomingHttpHeaders): Promise<void> {
    const token = TOKEN_HEADERS.map((name) => headers[name]).find((value) => value !== undefined);
    const isValid = typeof token === 'string' && token.length <= LONGEST_TOKEN;
    if (!isValid || !(await this.webhooks.isValid(id, token))) throw refused();
  }

  /**
   * Rejects a notification with a wrong signature; a notification without a signature passes.
   * @param key key in the URL of the webhook, by which the agent is found
   * @throws ProblemError 403; 503 if the JWK Set of the agent cannot be read
   */
  private async requireSigned(key: string, headers: IncomingHttpHeaders, body: Buffer): Promise<void> {
    const signature = headers[SIGNATURE_HEADER];
    if (signature === undefined) return;
    const agent = await retryForNotification(() => this.findAgent(key));
    if (!agent) return;
    const [notificationId] = [headers[ID_HEADER]].flat();
    const notification = { url: this.webhooks.urlOf(key), body, signature: String(signature), id: notificationId };
    const state = await this.signatures.verifyNotification(agent, notification);
    if (state === 'wrong') throw new ProblemError(403, 'the signature is not that of the agent');
    if (state === 'unverified') throw new ProblemError(503, 'the JWK Set of the agent could not be read');
  }

  private async findAgent(key: string): Promise<RegisteredAgent | undefined> {
    const found = await this.webhooks.findAgent(key);
    return found && this.agents.get(found.tenant, found.agent.slice(AGENTS_ROOT.length));
  }
}

/** Reads a body to its end. @returns its bytes if `isKept` is true, else an empty buffer @throws ProblemError 413 */
async function readBody(body: Readable | undefined, isKept: boolean): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  // The stream stays open after a refusal, so that the rest can be drained.
  for await (const chunk of body?.iterator({ destroyOnReturn: false }) ?? []) {
    bytes += (chunk as Buffer).length;
    if (bytes > MOST_BYTES) throw new ProblemError(413, `a notification has at most ${MOST_BYTES} bytes`);
    if (isKept) pieces.push(chunk as Buffer);
  }
  return Buffer.concat(pieces);
}

function refused(): ProblemError {
  return new ProblemError(403, 'the token is not that of the webhook');
}

function stale(): ProblemError {
  return new ProblemError(410, 'the webhook is out of use');
}
