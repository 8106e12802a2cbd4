import type { CallOptions } from './agent-client.js';

/** Gives the headers by which an agent knows who calls; asked at each call. */
export type CallCredentials = (options: CallOptions) => Readonly<Record<string, string>> | undefined;

/**
 * The credentials for an agent by the URL that its caller named, whatever its card says of where it is; `undefined` for
 * one that has no business with any.
 */
export type CredentialsOf = (agentUrl: string) => CallCredentials | undefined;
