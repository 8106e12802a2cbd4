import { Controller, Post } from '@nestjs/common';
import { ApiCreatedResponse, ApiOperation, ApiProperty, ApiTags } from '@nestjs/swagger';
import { Authentication } from './authentication.js';
import { Caller } from './caller.decorator.js';
import { EVENTS_PROTOCOL, TICKET_PROTOCOL } from './credentials.js';

/** Ticket that opens a WebSocket in a browser, which cannot send a header. */
export class TicketView {
  @ApiProperty({ example: 'mT0vXyq0x7p3n1l9s4f6b2k8d5h7j1c3a9z0w2e4r6t' })
  ticket!: string;

  @ApiProperty({
    type: [String],
    description: 'What to give to `new WebSocket(url, protocols)`.',
    example: [EVENTS_PROTOCOL, `${TICKET_PROTOCOL}mT0vXyq0x7p3n1l9s4f6b2k8d5h7j1c3a9z0w2e4r6t`],
  })
  protocols!: string[];

  @ApiProperty({ format: 'date-time' })
  expiresAt!: Date;
}

/**
 * Issues tickets. A ticket identifies the caller once, within thirty seconds and at every replica. It opens only the
 * event gateway's WebSocket.
 */
@ApiTags('events')
@Controller('api/tickets')
export class TicketsController {
  constructor(private readonly authentication: Authentication) {}

  @Post()
  @ApiOperation({ summary: 'A ticket for the WebSocket at /events, good once, within thirty seconds.' })
  @ApiCreatedResponse({ type: TicketView })
  async createTicket(@Caller() caller: Caller): Promise<TicketView> {
    const { ticket, expiresAt } = await this.authentication.issueTicket(caller);
    return { ticket, protocols: [EVENTS_PROTOCOL, `${TICKET_PROTOCOL}${ticket}`], expiresAt };
  }
}
