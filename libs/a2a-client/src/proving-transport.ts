import type { SendMessageRequest, StreamResponse, Task } from '#libs/protocol';
import { AgentCallError } from './agent-call-error.js';
import type { AgentTransport, TransportOptions } from './agent-transport.js';
import { toAgentCallError } from './call-failure.js';
import type { CallProof, CredentialProofs, WantedProof } from './call-proof.js';

/** The agent that calls go to, as far as its proofs depend on it. */
export type ProvenAgent = Pick<WantedProof, 'agentUrl' | 'endpoint' | 'security'>;

/**
 * Has calls that name a credential carry a proof of it; all others pass untouched. A call that was refused with 401, and
 * so did nothing, is made once more where there is another proof. No secret stays in an error.
 */
export class ProvingTransport implements AgentTransport {
  constructor(
    private readonly inner: AgentTransport,
    private readonly proofs: CredentialProofs,
    private readonly agent: ProvenAgent,
  ) {}

  get streaming(): boolean {
    return this.inner.streaming;
  }

  get timeouts(): AgentTransport['timeouts'] {
    return this.inner.timeouts;
  }

  send(request: SendMessageRequest, options: TransportOptions): AsyncIterable<StreamResponse> {
    if (options.credential === undefined) return this.inner.send(request, options);
    return this.#stream(options.credential, options, (proven) => this.inner.send(request, proven));
  }

  subscribe(taskId: string, options: TransportOptions): AsyncIterable<StreamResponse> {
    if (options.credential === undefined) return this.inner.subscribe(taskId, options);
    return this.#stream(options.credential, options, (proven) => this.inner.subscribe(taskId, proven));
  }

  getTask(taskId: string, options: TransportOptions): Promise<Task> {
    if (options.credential === undefined) return this.inner.getTask(taskId, options);
    return this.#ask(options.credential, options, (proven) => this.inner.getTask(taskId, proven));
  }

  cancelTask(taskId: string, options: TransportOptions): Promise<Task> {
    if (options.credential === undefined) return this.inner.cancelTask(taskId, options);
    return this.#ask(options.credential, options, (proven) => this.inner.cancelTask(taskId, proven));
  }

  async *#stream(
    credential: string,
    options: TransportOptions,
    open: (proven: TransportOptions) => AsyncIterable<StreamResponse>,
  ): AsyncIterable<StreamResponse> {
    const wanted = this.#wanted(credential, options);
    let proof = await this.proofs.proof(wanted);
    for (let first = true; ; first = false) {
      let begun = false;
      try {
        for await (const event of open({ ...options, proof })) {
          begun = true;
          yield event;
        }
        return;
      } catch (error) {
        const failure = without(proof.secrets, toAgentCallError(error));
        proof = await this.#other(wanted, proof, failure, first && !begun);
      }
    }
  }

  async #ask<T>(
    credential: string,
    options: TransportOptions,
    call: (proven: TransportOptions) => Promise<T>,
  ): Promise<T> {
    const wanted = this.#wanted(credential, options);
    let proof = await this.proofs.proof(wanted);
    for (let first = true; ; first = false) {
      try {
        return await call({ ...options, proof });
      } catch (error) {
        const failure = without(proof.secrets, toAgentCallError(error));
        proof = await this.#other(wanted, proof, failure, first);
      }
    }
  }

  #wanted(credential: string, { scope, signal, onlyToHosts }: TransportOptions): WantedProof {
    const agentUrl = onlyToHosts ? undefined : this.agent.agentUrl;
    return { ...this.agent, agentUrl, credential, tenant: scope?.tenant ?? '', signal };
  }

  /** The proof to make the call once more with. @throws the failure where it is final */
  async #other(wanted: WantedProof, proof: CallProof, failure: AgentCallError, again: boolean): Promise<CallProof> {
    if (failure.kind !== 'unauthorized') throw failure;
    const other = again && failure.code === 401 ? await this.proofs.renewed(wanted, proof) : undefined;
    if (other !== undefined) return other;
    this.proofs.failed(proof, failure);
    throw failure;
  }
}

/** An agent may quote what it was sent: errors are shown to callers and kept in the log of a run. */
function without(secrets: readonly string[], failure: AgentCallError): AgentCallError {
  const told = secrets.reduce((text, secret) => text.replaceAll(secret, '[secret]'), failure.message);
  if (told === failure.message) return failure;
  return new AgentCallError(failure.kind, told, { ...(failure.code !== undefined && { code: failure.code }) });
}
