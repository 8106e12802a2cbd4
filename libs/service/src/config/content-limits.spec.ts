import { loadConfig } from './load-config.js';
import { DEFAULT_CONTENT_LIMITS } from './content-limits.js';

const content = (env: Record<string, string>) => loadConfig(env).content;

describe('the limits on content', () => {
  test('have defaults', () => {
    expect(content({})).toEqual(DEFAULT_CONTENT_LIMITS);
  });

  test('are sizes and numbers', () => {
    const env = { RENDERED_TEXT_LIMIT: '64kb', ARTIFACT_LIMIT: '2mb', TASK_LIMIT: '8 MiB', EXPRESSIONS_LIMIT: '1024' };
    const counts = { JSON_MEMBERS_LIMIT: '1000', SCRIPT_RULES_LIMIT: '7', EXPRESSION_SIZE_LIMIT: '99' };
    expect(content({ ...env, ...counts })).toEqual({
      renderedText: 65_536,
      artifact: 2_097_152,
      task: 8_388_608,
      answer: DEFAULT_CONTENT_LIMITS.answer,
      jsonMembers: 1_000,
      scriptRules: 7,
      expressions: 1_024,
      expressionSize: 99,
    });
  });

  test('grow with the largest body where they are not set', () => {
    expect(content({ BODY_LIMIT: '16mb', ARTIFACT_LIMIT: '1mb' })).toMatchObject({
      renderedText: 16 * 1024 ** 2,
      artifact: 1024 ** 2,
      task: 256 * 1024 ** 2,
      answer: 32 * 1024 ** 2,
    });
    expect(content({ BODY_LIMIT: '1kb' })).toEqual(DEFAULT_CONTENT_LIMITS);
    expect(content({ BODY_LIMIT: '1gb' }).task).toBe(512 * 1024 ** 2);
  });

  test.each([
    ['RENDERED_TEXT_LIMIT', 'much'],
    ['TASK_LIMIT', '1gb'],
    ['ARTIFACT_LIMIT', '12'],
    ['JSON_MEMBERS_LIMIT', '0'],
    ['SCRIPT_RULES_LIMIT', '1mb'],
  ])('%s=%s is refused', (name, value) => {
    expect(() => loadConfig({ [name]: value })).toThrow(`${name}: must be`);
  });
});
