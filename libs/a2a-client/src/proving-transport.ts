import type { SendMessageRequest, StreamResponse, Task } from '#libs/protocol';
import { AgentCallError } from './agent-call-error.js';
import type { AgentTransport, TransportOptions } from './agent-transport.js';
import { toAgentCallError } from './call-failure.js';
import type { CallProof, CredentialProofs, WantedProof } from './call-proof.js';

/** The agent that calls go to, as far as its proofs depend on it. */
export type ProvenAgent = Omit<WantedProof, 'credential' | 'tenant'>;

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
        const other = begun ? undefined : await this.#afterRefusal(wanted, proof, failure);
        if (!first || other === undefined) throw failure;
        proof = other;
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
        const other = await this.#afterRefusal(wanted, proof, failure);
        if (!first || other === undefined) throw failure;
        proof = other;
      }
    }
  }

  #wanted(credential: string, { scope }: TransportOptions): WantedProof {
    return { ...this.agent, credential, tenant: scope?.tenant ?? '' };
  }

  async #afterRefusal(wanted: WantedProof, proof: CallProof, failure: AgentCallError): Promise<CallProof | undefined> {
    return failure.kind === 'unauthorized' ? this.proofs.refused(wanted, proof, failure) : undefined;
  }
}

/** An agent may quote what it was sent: errors are shown to callers and kept in the log of a run. */
function without(secrets: readonly string[], failure: AgentCallError): AgentCallError {
  const told = secrets.reduce((text, secret) => text.replaceAll(secret, '[secret]'), failure.message);
  if (told === failure.message) return failure;
  return new AgentCallError(failure.kind, told, { ...(failure.code !== undefined && { code: failure.code }) });
}
