import { OutboundHttp } from '#libs/http-client';
import { loadConfig, Metrics } from '#libs/service';
import { FakeLlm } from '../../../test/support/fake-llm.js';
import { ModelError } from './model.js';
import { ConfiguredModels, wholeAnswer } from './models.js';
import { KeySigner } from './provider/model-signer.js';
import { languageModel } from './provider/provider-model.js';

describe('ConfiguredModels', () => {
  const metrics = new Metrics();
  const { signal } = new AbortController();
  const messages = [{ role: 'user' as const, parts: [{ text: 'hello' }, { data: { a: 1 } }] }];
  const models = (env: Record<string, string>): ConfiguredModels => {
    const config = loadConfig({ HOST: '127.0.0.1', ...env });
    return new ConfiguredModels(config, new OutboundHttp(config), metrics);
  };

  it('echoes without an endpoint, whichever model is wanted', async () => {
    const { defaultModel } = models({});
    expect(defaultModel).toMatchObject({ name: 'echo', inputModes: ['text/plain', 'application/json'] });
    for (const name of [undefined, 'echo', 'gpt']) {
      const model = await models({}).findModel(name);
      expect(await wholeAnswer(model, { messages, signal })).toMatchObject({
        parts: messages[0]!.parts,
        toolCalls: [],
      });
    }
  });

  it('asks the endpoint for the model that is named there; echo stays built in; tokens and errors are counted', async () => {
    const llm = await FakeLlm.start();
    try {
      const env = { LLM_BASE_URL: llm.url, LLM_MODEL: 'small', LLM_INPUT_MODES: 'image/*' };
      const { defaultModel } = models(env);
      expect(defaultModel).toMatchObject({ name: 'small', inputModes: ['text/plain', 'application/json', 'image/*'] });
      const large = await models(env).findModel('large');
      llm.answer = () => ({ text: ['bon', 'jour'], usage: { input: 5, output: 7 } });
      expect(await wholeAnswer(large, { messages, signal })).toMatchObject({
        parts: [{ text: 'bonjour', mediaType: 'text/plain' }],
        end: { usage: { inputTokens: 5, outputTokens: 7 } },
      });
      llm.answer = () => 500;
      await expect(wholeAnswer(large, { messages, signal })).rejects.toThrow(ModelError);
      await wholeAnswer(await models(env).findModel('echo'), { messages, signal });
      expect(llm.calls.map(({ body }) => body['model'])).toEqual(['large', 'large']);
    } finally {
      await llm.stop();
    }
    const read = await metrics.readExposition();
    expect(read).toContain('parley_model_tokens_total{model="large",direction="input"} 5');
    expect(read).toContain('parley_model_tokens_total{model="large",direction="output"} 7');
    expect(read).toContain('parley_model_errors_total{model="large"} 1');
  });

  it('calls tools by a schema where the operator says so', async () => {
    const llm = await FakeLlm.start();
    try {
      const { defaultModel } = models({ LLM_BASE_URL: llm.url, LLM_MODEL: 'small', LLM_TOOL_CALLS: 'schema' });
      expect(defaultModel.toolCalls).toBe('schema');
      llm.answer = () => '{"tool":"look","arguments":{}}';
      const tools = [{ name: 'look', inputSchema: { type: 'object' } }];
      expect(await wholeAnswer(defaultModel, { messages, tools, signal })).toMatchObject({
        toolCalls: [{ name: 'look' }],
        end: { reason: 'tool-calls' },
      });
    } finally {
      await llm.stop();
    }
  });

  it('calls the endpoint with another proof where it is given one, and says where it is', async () => {
    const llm = await FakeLlm.start();
    try {
      const configured = models({ LLM_BASE_URL: llm.url, LLM_MODEL: 'small', LLM_API_KEY: 'the-operators' });
      const { origin } = new URL(llm.url);
      const other = new KeySigner('of-a-caller');
      await wholeAnswer(configured.signedBy(other), { messages, signal });
      await wholeAnswer(configured.signedBy(other, 'large'), { messages, signal });
      await wholeAnswer(await configured.findModel('large'), { messages, signal });
      expect(llm.calls.map(({ headers, body }) => [body['model'], headers['authorization']])).toEqual([
        ['small', 'Bearer of-a-caller'],
        ['large', 'Bearer of-a-caller'],
        ['large', 'Bearer the-operators'],
      ]);
      expect([await configured.findOrigin(), await configured.findOrigin('large')]).toEqual([origin, origin]);
      expect([await configured.findOrigin('echo'), await models({}).findOrigin()]).toEqual([undefined, undefined]);
    } finally {
      await llm.stop();
    }
  });

  it('makes no call with the key of the operator where a credential is named', async () => {
    const configured = models({ LLM_BASE_URL: 'http://127.0.0.1:1', LLM_API_KEY: 'the-operators' });
    await expect(configured.findModel('small', { credentials: ['mine'] })).rejects.toThrow(ModelError);
  });

  it('says which package is missing', async () => {
    const missing = async (): Promise<never> => {
      throw Object.assign(new Error('no such package'), { code: 'ERR_MODULE_NOT_FOUND' });
    };
    const makers = { 'openai-compatible': missing, openai: missing, anthropic: missing, google: missing };
    const settings = { provider: 'google' as const, model: 'm', baseUrl: 'http://127.0.0.1:1', input: [] };
    await expect(languageModel(settings, fetch, makers)).rejects.toThrow(
      'models of google need the package @ai-sdk/google, which is not installed here',
    );
  });
});
