import { Controller, Post, Req } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { Authentication } from './authentication.js';
import { EVENTS_PROTOCOL, TICKET_PROTOCOL } from './credentials.js';
import { callerOf } from './request-caller.js';

/** What opens a WebSocket in a browser, which can send it no header. */
export interface Ticket {
  ticket: string;
  /** What to give to `new WebSocket(url, protocols)`. */
  protocols: string[];
  expiresAt: Date;
}

/**
 * Tickets stand for the caller once, within thirty seconds and at every replica, and open nothing but the event gateway's
 * WebSocket.
 */
@ApiTags('events')
@Controller('api/tickets')
export class TicketsController {
  constructor(private readonly authentication: Authentication) {}

  @Post()
  @ApiOperation({ summary: 'A ticket for the WebSocket at /events, good once, within thirty seconds.' })
  async make(@Req() request: FastifyRequest): Promise<Ticket> {
    const { ticket, expiresAt } = await this.authentication.ticket(callerOf(request.raw));
    return { ticket, protocols: [EVENTS_PROTOCOL, `${TICKET_PROTOCOL}${ticket}`], expiresAt };
  }
}
