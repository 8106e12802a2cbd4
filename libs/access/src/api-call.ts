import type { IncomingMessage } from 'node:http';
import type { ServiceAddress } from '#libs/http';
import { scopeOf } from './request-caller.js';

/** Who asks for something, and by which address of this service. */
export interface ApiCall {
  scope: { tenant: string; owner: string };
  baseUrl: string;
}

export function apiCall({ raw }: { raw: IncomingMessage }, address: ServiceAddress): ApiCall {
  return { scope: scopeOf(raw), baseUrl: address.publicBaseUrl(raw) };
}
