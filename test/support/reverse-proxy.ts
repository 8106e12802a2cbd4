import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createProxyServer } from 'httpxy';

/**
 * Address from which proxies connect. It differs from that of clients, so that only proxies are trusted. On Linux all
 * addresses of 127/8 are local.
 */
export const PROXY_ADDRESS = '127.0.0.2';

export interface ReverseProxyOptions {
  /** URL to which the proxy forwards requests, without a trailing slash. */
  target: string;
  /** Prefix that the proxy removes from the path, such as `/team/parley`; it answers 404 for other paths. */
  prefix?: string;
  /** True to replace X-Forwarded-Host, -Proto and -Prefix instead of appending to them. */
  replaces?: boolean;
  host?: string;
}

export interface ReverseProxy {
  /** Base URL of the proxy, with the prefix. */
  url: string;
  stop(): Promise<void>;
}

/** Starts a reverse proxy that removes a prefix from the path, and reports this in the usual headers. */
export async function startReverseProxy(options: ReverseProxyOptions): Promise<ReverseProxy> {
  const { target, prefix = '', host = '127.0.0.1' } = options;
  const proxy = createProxyServer({ agent: new Agent({ localAddress: PROXY_ADDRESS }) });
  const server = createServer((request, response) => {
    if (request.url === undefined || !request.url.startsWith(`${prefix}/`)) return void response.writeHead(404).end();
    request.url = request.url.slice(prefix.length);
    forward(request, options);
    // The Host that it was called with stays outside: the service must not need it.
    proxy.web(request, response, { target, changeOrigin: true }).catch(() => refused(response));
  });
  server.listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}${prefix}`,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function forward(request: IncomingMessage, { prefix, replaces }: ReverseProxyOptions): void {
  const said: Record<string, string | undefined> = {
    for: request.socket.remoteAddress,
    host: request.headers.host,
    proto: 'http',
    prefix,
  };
  for (const [name, value] of Object.entries(said)) {
    if (value === undefined) continue;
    const before = replaces ? undefined : request.headers[`x-forwarded-${name}`];
    request.headers[`x-forwarded-${name}`] = before === undefined ? value : `${String(before)}, ${value}`;
  }
}

function refused(response: ServerResponse): void {
  if (response.headersSent) response.destroy();
  else response.writeHead(502).end();
}
