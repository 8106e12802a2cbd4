import { Injectable } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { type CallOptions, LocalAgents } from '#libs/a2a-client';
import { LocalAgentTransport, type LocalCallOptions } from '#libs/a2a-server';
import { ServiceAddress } from '#libs/http';
import type {
  CancelTaskRequest,
  GetTaskRequest,
  SendMessageRequest,
  StreamResponse,
  SubscribeToTaskRequest,
  Task,
} from '#libs/protocol';
import { AppConfig } from '#libs/service';

/**
 * This process's agents for its own clients: calls to them stay in the process, through the request handler that also
 * serves HTTP. With `NODE_DISPATCH=http` no URL is one of ours, and such calls go over the wire.
 */
@Injectable()
export class InProcessAgents extends LocalAgents {
  private transport: LocalAgentTransport | undefined;

  constructor(
    private readonly modules: ModuleRef,
    private readonly config: AppConfig,
    private readonly address: ServiceAddress,
  ) {
    super();
  }

  pathOf(url: string): string | undefined {
    if (this.config.nodeDispatch === 'http') return undefined;
    const root = `${this.address.internalUrl}/a2a`;
    if (url === root) return '';
    return url.startsWith(`${root}/`) ? url.slice(root.length + 1).replace(/\/$/, '') : undefined;
  }

  send(path: string, request: SendMessageRequest, options: CallOptions): AsyncIterable<StreamResponse> {
    return this.local().send(path, request, scoped(options));
  }

  subscribe(path: string, request: SubscribeToTaskRequest, options: CallOptions): AsyncIterable<StreamResponse> {
    return this.local().subscribe(path, request, scoped(options));
  }

  getTask(path: string, request: GetTaskRequest, options: CallOptions): Promise<Task> {
    return this.local().getTask(path, request, scoped(options));
  }

  cancelTask(path: string, request: CancelTaskRequest, options: CallOptions): Promise<Task> {
    return this.local().cancelTask(path, request, scoped(options));
  }

  /** Looked up late: it serves agents that are built with clients which know this class. */
  private local(): LocalAgentTransport {
    return (this.transport ??= this.modules.get<LocalAgentTransport>(LocalAgentTransport, { strict: false }));
  }
}

/** A call that names nobody would be one of all who have no tenant. */
function scoped(options: CallOptions): LocalCallOptions {
  if (!isScoped(options)) throw new Error('A call of an agent of this service does not say for whom it is made');
  return options;
}

function isScoped(options: CallOptions): options is CallOptions & Pick<LocalCallOptions, 'scope'> {
  return options.scope !== undefined;
}
