import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Web site of another origin on this machine. Each of its addresses is an empty page. */
export class WebSite {
  /** Number of received requests. */
  hits = 0;
  port = 0;
  private readonly server = createServer((_request, response) => {
    this.hits += 1;
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>A site</title>');
  });

  static async start(): Promise<WebSite> {
    const site = new WebSite();
    site.server.listen(0, '127.0.0.1');
    await once(site.server, 'listening');
    site.port = (site.server.address() as AddressInfo).port;
    return site;
  }

  /** Returns the site's origin under a host name that resolves to this machine. */
  at(name: string): string {
    return `http://${name}:${this.port}`;
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}
