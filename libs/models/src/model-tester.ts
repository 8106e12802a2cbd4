import type { APICallError } from '@ai-sdk/provider';
import { Injectable } from '@nestjs/common';
import { AgentCallError, RequestSigners, type RequestAuth } from '#libs/a2a-client';
import { TrialSlots } from '#libs/access';
import { OutboundFault, OutboundHttp, OutboundRefusedError } from '#libs/http-client';
import { textStart } from '#libs/protocol';
import { Metrics } from '#libs/service';
import { baseUrlOf, type ModelDefinition, type ModelId } from './model-definition.js';
import { type ModelCall, ModelError, type ModelEvent, type ModelUsage } from './model.js';
import { ConfiguredModels, ModelCounts } from './models.js';
import { CredentialSigner, KeySigner, type ModelSigner } from './provider/model-signer.js';
import { ProviderModel } from './provider/provider-model.js';

/** Time limit of a test, in milliseconds. */
const LONGEST_TEST_MS = 30_000;

/** Maximum number of tokens of the answer that a test requests from the model. */
const MOST_TEST_TOKENS = 64;

/** Maximum number of characters of the answer that a test reads. */
const MOST_READ = 16_384;

/** Maximum number of characters of the answer that a test reports. */
const MOST_SHOWN = 500;

const PROMPT = 'Answer with the word "ok" and nothing else.';

/** Causes of a failed test. */
export const MODEL_TEST_CAUSES = [
  'key-refused',
  'unknown-model',
  'unreachable',
  'wrong-address',
  'forbidden-address',
  'credential',
  'rate-limited',
  'timeout',
  'provider-error',
  'refused',
  'unusable-answer',
] as const;

export type ModelTestCause = (typeof MODEL_TEST_CAUSES)[number];

/** Result of a test: the text of the answer, or the failure. */
export interface ModelTestResult {
  latencyMs: number;
  text?: string;
  /** True if the answer was longer than the test reads or reports. */
  truncated?: boolean;
  usage?: ModelUsage;
  failure?: { cause: ModelTestCause; message: string; status?: number };
}

/** Limits the concurrent tests of models, and their rate (see TrialSlots). */
@Injectable()
export class ModelTestSlots extends TrialSlots {
  constructor(metrics: Metrics) {
    super(metrics, { plural: 'tests of models', limit: 'model-tests', metric: 'parley_model_tests' });
  }
}

/** Model to test: a stored model, or the definition of one that is not stored yet. */
export interface TestedModel extends ModelId, ModelDefinition {}

/**
 * Tests a model with one short call at its provider.
 * - The call uses the same HTTP client, credential and rules for permitted addresses as the calls of agents.
 * - Nothing is stored. If the provider refuses the credential, the credential is not marked as refused.
 * - The tokens are counted in the metric `parley_model_tokens_total` only.
 * - The result contains no secret, even if the provider sends the secret back.
 */
@Injectable()
export class ModelTester {
  private readonly counts: ModelCounts;

  constructor(
    private readonly configured: ConfiguredModels,
    private readonly signers: RequestSigners,
    private readonly http: OutboundHttp,
    metrics: Metrics,
  ) {
    this.counts = new ModelCounts(metrics);
  }

  /**
   * Tests a model. A failed call is a result with `failure`, and does not throw.
   * @throws the reason of `signal` if the signal aborts
   */
  async testModel(tested: TestedModel, { signal, reader }: TestCall): Promise<ModelTestResult> {
    const secrets = new Set<string>();
    const signer = recordingSigner(this.signerOf(tested), secrets);
    const began = performance.now();
    const timer = AbortSignal.timeout(LONGEST_TEST_MS);
    const call: ModelCall = {
      messages: [{ role: 'user', parts: [{ text: PROMPT }] }],
      maxTokens: MOST_TEST_TOKENS,
      reader,
      signal: AbortSignal.any([signal, timer]),
    };
    const since = (): number => Math.round(performance.now() - began);
    try {
      const answer = await this.requestAnswer(tested, signer, call);
      return { latencyMs: since(), ...answer, ...shownText(answer, secrets) };
    } catch (error) {
      signal.throwIfAborted();
      if (timer.aborted) return { latencyMs: since(), failure: { cause: 'timeout', message: tooSlow(tested) } };
      if (!(error instanceof ModelError)) throw error;
      return { latencyMs: since(), failure: failureOf(error), ...(error.usage && { usage: error.usage }) };
    }
  }

  /**
   * Calls the model. If the provider rejects the parameter that limits the tokens, calls it once more without the
   * limit.
   */
  private async requestAnswer(tested: TestedModel, signer: ModelSigner, call: ModelCall): Promise<ReadAnswer> {
    const { name, tenant: _tenant, auth: _auth, ...settings } = tested;
    const { shared } = this.configured;
    const ways = { ...settings, ...shared, name, baseUrl: baseUrlOf(tested), signer, http: this.http.fetch };
    const model = this.counts.countModel(new ProviderModel(ways), { countsErrors: false });
    try {
      return await readStart(model.streamAnswer(call));
    } catch (error) {
      if (!refusesLimit(error)) throw error;
      const { maxTokens: _limit, ...unlimited } = call;
      return readStart(model.streamAnswer(unlimited));
    }
  }

  private signerOf({ tenant, auth: credential, provider, ...rest }: TestedModel): ModelSigner {
    if (credential === undefined) return new KeySigner(undefined);
    const agentUrl = baseUrlOf({ provider, ...rest });
    return new CredentialSigner(this.signers, { credential, tenant, agentUrl }, provider);
  }
}

interface TestCall {
  signal: AbortSignal;
  /** Caller to whom the memory of the answer is charged. */
  reader: ModelCall['reader'] & object;
}

/**
 * Returns a signer that signs as `inner` does, adds the secrets that it sends to `secrets`, and reports no refusal: a
 * wrong address must not mark a credential as refused.
 */
function recordingSigner(inner: ModelSigner, secrets: Set<string>): ModelSigner {
  const record = (auth: RequestAuth | undefined): RequestAuth | undefined => {
    for (const secret of auth?.secrets ?? []) if (secret !== '') secrets.add(secret);
    return auth;
  };
  return {
    createAuth: async (endpoint, signal) => record(await inner.createAuth(endpoint, signal)),
    renewAuth: async (endpoint, refused, signal) => record(await inner.renewAuth(endpoint, refused, signal)),
    noteRefusal: ignoreRefusal,
  };
}

function ignoreRefusal(): void {}

interface ReadAnswer {
  text: string;
  truncated?: boolean;
  usage?: ModelUsage;
}

/**
 * Reads an answer up to MOST_READ characters. An answer that the provider truncated at the limit of tokens is returned
 * as well, with `truncated`.
 */
async function readStart(events: AsyncIterable<ModelEvent>): Promise<ReadAnswer> {
  let text = '';
  try {
    for await (const event of events) {
      if ('end' in event) return { text, ...(event.end.usage && { usage: event.end.usage }) };
      if ('text' in event) text += event.text;
      if (text.length > MOST_READ) return { text, truncated: true };
    }
  } catch (error) {
    if (!(error instanceof ModelError) || !error.isTruncated) throw error;
    return { text, truncated: true, ...(error.usage && { usage: error.usage }) };
  }
  return { text };
}

function shownText({ text }: ReadAnswer, secrets: Iterable<string>): { text: string; truncated?: boolean } {
  const shown = [...secrets].reduce((rest, secret) => rest.replaceAll(secret, '[…]'), text);
  return { text: textStart(shown, MOST_SHOWN), ...(shown.length > MOST_SHOWN && { truncated: true }) };
}

function tooSlow({ name }: TestedModel): string {
  return `model "${name}" gave no whole answer within ${LONGEST_TEST_MS / 1000} seconds`;
}

/**
 * True if the provider rejects the parameter that limits the tokens. Some models expect the limit under another name.
 */
function refusesLimit(error: unknown): boolean {
  return error instanceof ModelError && error.status === 400 && /max_\w{0,20}tokens/i.test(error.message);
}

function failureOf(error: ModelError): ModelTestResult['failure'] & object {
  const { message, status } = error;
  return { cause: causeOf(error), message, ...(status !== undefined && { status }) };
}

const OUTAGES = {
  connect: 'unreachable',
  timeout: 'timeout',
  'server-error': 'provider-error',
  'rate-limited': 'rate-limited',
  overloaded: 'rate-limited',
} as const satisfies Record<ModelError['outage'] & string, ModelTestCause>;

/**
 * Returns the cause of a failed call. It shows the caller what to correct, such as the key, the model or the address.
 */
function causeOf(error: ModelError): ModelTestCause {
  const { status, outage, cause } = error;
  const call = isCallError(cause) ? cause : undefined;
  const origin = call?.cause ?? cause;
  if (origin instanceof OutboundRefusedError)
    return origin.refusal === 'redirect' ? 'wrong-address' : 'forbidden-address';
  if (origin instanceof AgentCallError) return 'credential';
  const words = call?.message.slice(0, MOST_SHOWN).toLowerCase() ?? '';
  if (status === 401 || status === 403 || (status === 400 && isAboutKey(words))) return 'key-refused';
  if (status === 404 && call?.data === undefined) return 'wrong-address';
  if (status === 404 || (status !== undefined && status < 429 && isAboutModel(words))) return 'unknown-model';
  // The endpoint was reached, but its answer has no end.
  if (outage === 'connect' && !(origin instanceof OutboundFault)) return 'unusable-answer';
  if (outage !== undefined) return OUTAGES[outage];
  return status === undefined || status < 400 ? 'unusable-answer' : 'refused';
}

function isCallError(error: unknown): error is APICallError {
  return error instanceof Error && error.name === 'AI_APICallError';
}

/**
 * True if the error text of a provider, in lower case, reports a wrong key. Some providers, such as Google, answer a
 * wrong key with HTTP 400, so the status alone does not show the cause.
 */
function isAboutKey(words: string): boolean {
  return words.includes('api key') && /not valid|invalid|expired/.test(words);
}

/**
 * True if the error text of a provider, in lower case, reports an unknown model. Some providers answer an unknown model
 * with HTTP 400 or 422, so the status alone does not show the cause.
 */
function isAboutModel(words: string): boolean {
  return words.includes('model') && /not found|not exist|n't exist|unknown|no such|invalid model/.test(words);
}
