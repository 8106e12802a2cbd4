import type { LanguageModelV4 } from '@ai-sdk/provider';
import { ModelError } from './model-error.js';
import type { ModelProvider, ModelSettings } from './model-settings.js';

/**
 * Placeholder that stops packages from reading a key from the environment. The real credential is added when the
 * request is sent.
 */
const NO_KEY = 'none';

type Make = (settings: ModelSettings, send: typeof fetch) => Promise<LanguageModelV4>;

/** Packages are imported with the first call of their provider, so that other replicas start sooner. */
const MAKERS: Readonly<Record<ModelProvider, Make>> = {
  'openai-compatible': async ({ baseUrl, model }, send) => {
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
    const options = { name: 'endpoint', includeUsage: true, supportsStructuredOutputs: true };
    return createOpenAICompatible({ ...options, baseURL: baseUrl, fetch: send }).chatModel(model);
  },
  openai: async ({ baseUrl, model }, send) => {
    const { createOpenAI } = await import('@ai-sdk/openai');
    return createOpenAI({ baseURL: baseUrl, apiKey: NO_KEY, fetch: send })(model);
  },
  anthropic: async ({ baseUrl, model }, send) => {
    const { createAnthropic } = await import('@ai-sdk/anthropic');
    return createAnthropic({ baseURL: baseUrl, apiKey: NO_KEY, fetch: send })(model);
  },
  google: async ({ baseUrl, model }, send) => {
    const { createGoogle } = await import('@ai-sdk/google');
    return createGoogle({ baseURL: baseUrl, apiKey: NO_KEY, fetch: send })(model);
  },
};

/**
 * Returns the model from its provider's package.
 * @throws ModelError if the package is not installed
 */
export async function languageModel(
  settings: ModelSettings,
  send: typeof fetch,
  makers = MAKERS,
): Promise<LanguageModelV4> {
  const { provider } = settings;
  try {
    return await makers[provider](settings, send);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new ModelError(`models of ${provider} need the package @ai-sdk/${provider}, which is not installed here`, {
      cause: error,
    });
  }
}
