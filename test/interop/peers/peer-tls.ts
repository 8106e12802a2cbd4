import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { type ReverseProxy, startReverseProxy } from '../../support/reverse-proxy.js';
import { issuedCertificate } from '../../support/self-made-certificate.js';

/** Certificate of this run, which an authority of this run has signed. This process trusts the authority as well. */
export class PeerTls {
  /** Environment in which a peer serves its agent over TLS, and trusts the authority. */
  readonly peerEnv: Record<string, string>;
  /** Environment in which a service trusts the authority. */
  readonly serviceEnv: Record<string, string>;
  readonly #issued = issuedCertificate();

  /** @param folder folder for the certificates and the key */
  constructor(folder: string) {
    const { authority, cert, key } = this.#issued;
    const write = (name: string, text: Buffer): string => {
      const path = join(folder, name);
      writeFileSync(path, text, { mode: 0o600 });
      return path;
    };
    const trusted = write('authority.pem', authority);
    this.serviceEnv = { NODE_EXTRA_CA_CERTS: trusted };
    this.peerEnv = {
      PEER_TLS_CERT: write('certificate.pem', cert),
      PEER_TLS_KEY: write('key.pem', key),
      SSL_CERT_FILE: trusted,
    };
    setDefaultCACertificates([...getCACertificates(), authority.toString()]);
  }

  /** Starts a proxy that speaks TLS in front of a port of this machine, as operators put it in front of Parley. */
  startFront(port: string): Promise<ReverseProxy> {
    return startReverseProxy({ target: `http://127.0.0.1:${port}`, tls: this.#issued });
  }
}
