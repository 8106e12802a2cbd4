import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createProxyServer } from 'httpxy';
import type { SelfMadeCertificate } from './self-made-certificate.js';

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
  /** Certificate with which the proxy speaks TLS. */
  tls?: SelfMadeCertificate;
}

export interface ReverseProxy {
  /** Base URL of the proxy, with the prefix. */
  url: string;
  stop(): Promise<void>;
}

/** Starts a reverse proxy that removes a prefix from the path, and reports this in the usual headers. */
export async function startReverseProxy(options: ReverseProxyOptions): Promise<ReverseProxy> {
  const { target, prefix = '', host = '127.0.0.1', tls } = options;
  const proxy = createProxyServer({ agent: new Agent({ localAddress: PROXY_ADDRESS }) });
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    if (request.url === undefined || !request.url.startsWith(`${prefix}/`)) return void response.writeHead(404).end();
    request.url = request.url.slice(prefix.length);
    forward(request, options);
    // The Host that it was called with stays outside: the service must not need it.
    proxy.web(request, response, { target, changeOrigin: true }).catch(() => refused(response));
  };
  const server = tls === undefined ? createServer(handle) : createTlsServer(tls, handle);
  server.listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `${schemeOf(options)}://${host.includes(':') ? `[${host}]` : host}:${port}${prefix}`,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function schemeOf({ tls }: ReverseProxyOptions): 'http' | 'https' {
  return tls === undefined ? 'http' : 'https';
}

function forward(request: IncomingMessage, options: ReverseProxyOptions): void {
  const { prefix, replaces } = options;
  const said: Record<string, string | undefined> = {
    for: request.socket.remoteAddress,
    host: request.headers.host,
    proto: schemeOf(options),
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
