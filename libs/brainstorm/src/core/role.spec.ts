import { roleAt, ROLES } from './role.js';
import { llmSettings, sentConfig } from './llm-config.js';

test('J11 roles by position: build, review, refine, devils_advocate, then review', () => {
  expect([0, 1, 2, 3, 4, 5].map(roleAt)).toEqual([...ROLES, 'review', 'review']);
});

test("J15 each field of the model is the brainstorm's, else the agent's, else the service's; no credential goes out", () => {
  const settings = llmSettings(
    { model: 'm-1', temperature: 0.2 },
    { model: 'm-2', provider: 'p-2' },
    { model: 'm-3', provider: 'p-3', max_tokens: 5 },
  );
  expect(settings).toEqual({ model: 'm-1', provider: 'p-2', temperature: 0.2, max_tokens: 5 });
  const stored = { ...settings, credential_ref: 'KEY_OF_AN_EARLIER_VERSION' };
  expect(sentConfig(stored)).toEqual({ model: 'm-1', provider: 'p-2', temperature: 0.2, max_tokens: 5 });
  expect(llmSettings({}, {}, {})).toEqual({ provider: 'parley', model: 'echo' });
});
