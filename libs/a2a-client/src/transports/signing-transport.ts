import type { SendMessageRequest, StreamResponse, Task } from '#libs/protocol';
import { AgentCallError } from '../agent-call-error.js';
import { toAgentCallError } from '../call-failure.js';
import type { RequestAuth, RequestSigners, SigningRequest } from '../request-signers.js';
import type { AgentTransport, TransportOptions } from './agent-transport.js';

/** Facts about an agent that decide how calls to it are authenticated. */
export type SignedAgent = Pick<SigningRequest, 'agentUrl' | 'endpoint' | 'security'>;

/**
 * Transport that authenticates calls that name a credential; other calls pass unchanged. After a 401, which means that
 * the call did nothing, the call is repeated once if other authentication is possible. Secrets are removed from errors.
 */
export class SigningTransport implements AgentTransport {
  constructor(
    private readonly inner: AgentTransport,
    private readonly signers: RequestSigners,
    private readonly agent: SignedAgent,
  ) {}

  get streaming(): boolean {
    return this.inner.streaming;
  }

  get timeouts(): AgentTransport['timeouts'] {
    return this.inner.timeouts;
  }

  sendMessage(request: SendMessageRequest, options: TransportOptions): AsyncIterable<StreamResponse> {
    if (options.credential === undefined) return this.inner.sendMessage(request, options);
    return this.#streamSigned(options.credential, options, (signed) => this.inner.sendMessage(request, signed));
  }

  get postMessage(): AgentTransport['postMessage'] {
    const { inner } = this;
    if (inner.postMessage === undefined) return undefined;
    return (request, options) => {
      const postSigned = (signed: TransportOptions) => inner.postMessage!(request, signed);
      return options.credential === undefined
        ? postSigned(options)
        : this.#askSigned(options.credential, options, postSigned);
    };
  }

  subscribeToTask(taskId: string, options: TransportOptions): AsyncIterable<StreamResponse> {
    if (options.credential === undefined) return this.inner.subscribeToTask(taskId, options);
    return this.#streamSigned(options.credential, options, (signed) => this.inner.subscribeToTask(taskId, signed));
  }

  getTask(taskId: string, options: TransportOptions): Promise<Task> {
    if (options.credential === undefined) return this.inner.getTask(taskId, options);
    return this.#askSigned(options.credential, options, (signed) => this.inner.getTask(taskId, signed));
  }

  cancelTask(taskId: string, options: TransportOptions): Promise<Task> {
    if (options.credential === undefined) return this.inner.cancelTask(taskId, options);
    return this.#askSigned(options.credential, options, (signed) => this.inner.cancelTask(taskId, signed));
  }

  get createPushConfig(): AgentTransport['createPushConfig'] {
    const { inner } = this;
    if (inner.createPushConfig === undefined) return undefined;
    return (config, options) => {
      const createSigned = (signed: TransportOptions) => inner.createPushConfig!(config, signed);
      return options.credential === undefined
        ? createSigned(options)
        : this.#askSigned(options.credential, options, createSigned);
    };
  }

  get deletePushConfig(): AgentTransport['deletePushConfig'] {
    const { inner } = this;
    if (inner.deletePushConfig === undefined) return undefined;
    return (config, options) => {
      const deleteSigned = (signed: TransportOptions) => inner.deletePushConfig!(config, signed);
      return options.credential === undefined
        ? deleteSigned(options)
        : this.#askSigned(options.credential, options, deleteSigned);
    };
  }

  async *#streamSigned(
    credential: string,
    options: TransportOptions,
    open: (signed: TransportOptions) => AsyncIterable<StreamResponse>,
  ): AsyncIterable<StreamResponse> {
    const wanted = this.#signingRequest(credential, options);
    let auth = await this.signers.createProof(wanted);
    for (let first = true; ; first = false) {
      let begun = false;
      try {
        for await (const event of open({ ...options, auth })) {
          begun = true;
          yield event;
        }
        return;
      } catch (error) {
        const failure = withoutSecrets(auth.secrets, toAgentCallError(error));
        auth = await this.#renewOrFail(wanted, auth, failure, first && !begun);
      }
    }
  }

  async #askSigned<T>(
    credential: string,
    options: TransportOptions,
    call: (signed: TransportOptions) => Promise<T>,
  ): Promise<T> {
    const wanted = this.#signingRequest(credential, options);
    let auth = await this.signers.createProof(wanted);
    for (let first = true; ; first = false) {
      try {
        return await call({ ...options, auth });
      } catch (error) {
        const failure = withoutSecrets(auth.secrets, toAgentCallError(error));
        auth = await this.#renewOrFail(wanted, auth, failure, first);
      }
    }
  }

  #signingRequest(credential: string, { scope, signal, onlyToHosts }: TransportOptions): SigningRequest {
    const agentUrl = onlyToHosts ? undefined : this.agent.agentUrl;
    return { ...this.agent, agentUrl, credential, tenant: scope?.tenant ?? '', signal };
  }

  /**
   * Returns a new RequestAuth with which a call that the agent has rejected is repeated.
   * @param again true if the call may be repeated; false if it has already been repeated
   * @throws the failure if no repetition can help
   */
  async #renewOrFail(
    wanted: SigningRequest,
    auth: RequestAuth,
    failure: AgentCallError,
    again: boolean,
  ): Promise<RequestAuth> {
    if (failure.kind !== 'unauthorized') throw failure;
    const other = again && failure.code === 401 ? await this.signers.renewProof(wanted, auth) : undefined;
    if (other !== undefined) return other;
    this.signers.reportRefusal(auth, failure);
    throw failure;
  }
}

/**
 * Removes secrets from a failure: an agent may quote its request, and errors are shown to callers and stored in the log
 * of a run.
 */
function withoutSecrets(secrets: readonly string[], failure: AgentCallError): AgentCallError {
  const reported = secrets.reduce((text, secret) => text.replaceAll(secret, '[secret]'), failure.message);
  if (reported === failure.message) return failure;
  const { kind, code, status, retryAfter, unsent, ofCredential } = failure;
  return new AgentCallError(kind, reported, { code, status, retryAfter, unsent, ofCredential });
}
