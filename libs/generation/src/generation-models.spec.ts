import { GenerationModels } from './generation-models.js';
import { configOf, keptModels } from './testing/generation-ground.js';
import { NoModels, ScriptedModels } from './testing/scripted-models.js';

const signal = new AbortController().signal;

describe('the model that writes a workflow', () => {
  it('is the named one, else that of GENERATE_MODEL, else the default model', async () => {
    const models = new ScriptedModels([]);
    const found = async (name: string | undefined, generateModel?: string) =>
      (
        await new GenerationModels(models, keptModels(), configOf(generateModel)).findModel({
          tenant: '',
          name,
          signal,
        })
      ).name;
    expect(await found('large', 'writer')).toBe('large');
    expect(await found(undefined, 'writer')).toBe('writer');
    expect(await found(undefined)).toBe('scripted');
  });

  it('is the only model of a tenant where no model is the default', async () => {
    const models = new ScriptedModels([]);
    models.defaultModel = { name: 'echo', inputModes: [] };
    const { name } = await new GenerationModels(models, keptModels('large'), configOf()).findModel({
      tenant: '',
      name: undefined,
      signal,
    });
    expect(name).toBe('large');
  });

  it('has to be named where a tenant has several and none is the default', async () => {
    const found = new GenerationModels(new NoModels(), keptModels('large', 'small'), configOf());
    await expect(found.findModel({ tenant: '', name: undefined, signal })).rejects.toMatchObject({
      status: 422,
      errors: [{ path: 'model', detail: expect.stringContaining('large, small') }],
    });
  });

  it.each([undefined, 'echo'])('is missing where only the built-in model is there (asked for %s)', async (name) => {
    const found = new GenerationModels(new NoModels(), keptModels(), configOf());
    await expect(found.findModel({ tenant: '', name, signal })).rejects.toMatchObject({
      status: 422,
      reason: 'NO_MODEL',
      message: 'Set LLM_BASE_URL or add a model under /api/models.',
    });
  });

  it('is refused with the path `model` where the caller names one that is not there', async () => {
    const found = new GenerationModels(new ScriptedModels([]), keptModels(), configOf());
    await expect(found.findModel({ tenant: '', name: 'unknown', signal })).rejects.toMatchObject({
      status: 422,
      errors: [{ path: 'model' }],
    });
  });
});
