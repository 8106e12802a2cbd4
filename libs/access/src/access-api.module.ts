import { Module } from '@nestjs/common';
import { KeysController } from './keys.controller.js';
import { TicketsController } from './tickets.controller.js';

/** Provides the management of keys, and tickets. Needs AccessModule. */
@Module({ controllers: [KeysController, TicketsController] })
export class AccessApiModule {}
