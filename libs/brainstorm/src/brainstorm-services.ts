import { Injectable } from '@nestjs/common';
import { AgentDirectory, RequestSigners } from '#libs/a2a-client';
import { CallChains } from '#libs/executor';
import { ServiceAddress } from '#libs/http';
import { TaskStore } from '#libs/tasks';
import { Approvals } from './approvals.js';

/** Services that every brainstorm uses. */
@Injectable()
export class BrainstormServices {
  constructor(
    readonly directory: AgentDirectory,
    readonly approvals: Approvals,
    readonly chains: CallChains,
    /** Address of this service's agents. Read it at each call, since it is known only after the service listens. */
    readonly address: ServiceAddress,
    readonly tasks: TaskStore,
    readonly signers: RequestSigners,
  ) {}
}
