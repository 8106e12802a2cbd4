import type { PriorDiscovery } from '@modelcontextprotocol/client';
import { Logger } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { AgentCallError, RequestSigners } from '#libs/a2a-client';
import { OutboundHttp } from '#libs/http-client';
import { AppConfig, type McpCommand, type McpEndpoint, Shutdown } from '#libs/service';
import { MAX_LISTING } from '../pins/tool-listing.js';
import type { McpServer } from '../servers/mcp-servers.js';
import { type BodyBounds, ReceivedBytes } from './bounded-body.js';
import { isEnd } from './failure-text.js';
import { type AnswerBounds, httpTransport, serverFetch, type ServerProof } from './http-transport.js';
import { FreshLists, McpConnection, type SessionEvents, type SessionOpener } from './mcp-connection.js';
import { McpSession, SESSION_TIMES, type SessionTimes } from './mcp-session.js';
import { StdioTransport } from './stdio-transport.js';

/** Maximum number of bytes of one message of a program, or of one answer over HTTP. */
const MAX_MESSAGE = 16 * 1024 * 1024;
/** Maximum number of connections over HTTP. */
const MOST_OPEN = 500;
const IDLE_MS = 600_000;

/**
 * Connections of this process to MCP servers, opened on first use.
 * - A local program has one connection, which all tenants share.
 * - A server over HTTP has one connection for each tenant, URL and credential. The connection is closed after ten idle
 *   minutes. If there are more than MOST_OPEN connections, the least recently used one is closed. A call in progress is
 *   finished first.
 */
export class McpConnections {
  private readonly logger = new Logger(McpConnections.name);
  private readonly programs = new Map<string, McpConnection>();
  private readonly remote = new LRUCache<string, McpConnection>({
    max: MOST_OPEN,
    ttl: IDLE_MS,
    updateAgeOnGet: true,
    ttlAutopurge: true,
    dispose: (connection) => connection.closeWhenIdle(),
  });

  private readonly received = new ReceivedBytes();
  private readonly lists = new FreshLists();
  private closed = false;

  constructor(
    private readonly config: Pick<AppConfig, 'content'>,
    private readonly http: Pick<OutboundHttp, 'fetch'>,
    private readonly signers: RequestSigners,
    shutdown: Pick<Shutdown, 'registerStep'>,
    private readonly times: SessionTimes = SESSION_TIMES,
  ) {
    shutdown.registerStep('connections', () => this.close());
  }

  /** Returns the connection to a server, or creates it. @throws AgentCallError after `close` */
  connectionFor(tenant: string, { name, at }: McpServer): McpConnection {
    if (this.closed) throw new AgentCallError('connect', 'the service is about to end');
    if ('command' in at)
      return keptConnection(
        this.programs,
        name,
        () => new McpConnection(this.programOpener(name, at), true, new Set(), this.lists),
      );
    const key = JSON.stringify([tenant, name, at.url, at.auth ?? '']);
    return keptConnection(this.remote, key, () => this.remoteConnection(tenant, at));
  }

  async close(): Promise<void> {
    this.closed = true;
    const open = [...this.programs.values(), ...this.remote.values()];
    this.programs.clear();
    await Promise.all(open.map((it) => it.close()));
    this.remote.clear();
  }

  private programOpener(name: string, at: McpCommand): SessionOpener {
    const logLine = (line: string): void =>
      this.logger.debug({ server: name, stderr: line }, 'An MCP server wrote to its standard error');
    const bounds: BodyBounds = { bytes: MAX_MESSAGE, members: this.config.content.jsonMembers };
    const openProgram = (events: SessionEvents, prior?: PriorDiscovery): Promise<McpSession> =>
      McpSession.openSession(
        new StdioTransport(at, bounds, logLine),
        this.times,
        this.watchEvents(name, events),
        prior,
      );
    return async (events, last) => {
      try {
        return await openProgram(events, last?.prior);
      } catch (error) {
        if (last || !isEnd(error)) throw error;
        // Some programs exit on the unknown request `server/discover`. The legacy era of the protocol does not send it.
        return openProgram(events, { kind: 'legacy' });
      }
    };
  }

  private watchEvents(name: string, { ended, outdateListing: changed }: SessionEvents): SessionEvents {
    return {
      outdateListing: changed,
      ended: () => {
        if (!this.closed)
          this.logger.warn({ server: name }, 'An MCP server has ended; it is restarted when it is needed');
        ended();
      },
    };
  }

  private remoteConnection(tenant: string, at: McpEndpoint): McpConnection {
    const secrets = new Set<string>();
    return new McpConnection(this.endpointOpener(tenant, at, secrets), false, secrets, this.lists);
  }

  private endpointOpener(tenant: string, { url, auth }: McpEndpoint, secrets: Set<string>): SessionOpener {
    const endpoint = new URL(url);
    const wanted = auth === undefined ? undefined : { credential: auth, tenant, agentUrl: url, endpoint };
    const proof: ServerProof | undefined = wanted && { signers: this.signers, wanted, secrets };
    let failure: AgentCallError | undefined;
    const bounds: AnswerBounds = {
      bytes: MAX_MESSAGE,
      page: MAX_LISTING,
      members: this.config.content.jsonMembers,
      account: () => this.received.openAccount(tenant),
      cut: (reason) => (failure = reason),
    };
    const fetch = serverFetch(this.http.fetch, bounds, proof);
    const lastFailure = (): AgentCallError | undefined => {
      const last = failure;
      failure = undefined;
      return last;
    };
    return async (events) =>
      McpSession.openSession(await httpTransport(endpoint, fetch, lastFailure), this.times, events);
  }
}

function keptConnection(
  connections: Map<string, McpConnection> | LRUCache<string, McpConnection>,
  key: string,
  make: () => McpConnection,
): McpConnection {
  const known = connections.get(key) ?? make();
  connections.set(key, known);
  return known;
}
