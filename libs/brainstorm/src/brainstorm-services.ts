import { Injectable } from '@nestjs/common';
import { AgentDirectory, RequestSigners } from '#libs/a2a-client';
import { CallChains } from '#libs/executor';
import { ServiceAddress } from '#libs/http';
import { TaskStore } from '#libs/tasks';
import { Approvals } from './approvals.js';

/** What every brainstorm needs of the process it runs in. */
@Injectable()
export class BrainstormServices {
  constructor(
    readonly directory: AgentDirectory,
    readonly approvals: Approvals,
    readonly chains: CallChains,
    /** Where the agents of this service are called; read at each call, since it is known only after listening. */
    readonly address: ServiceAddress,
    readonly tasks: TaskStore,
    readonly signers: RequestSigners,
  ) {}
}
