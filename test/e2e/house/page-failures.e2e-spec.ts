import { failureOnPages } from '../../support/page-failure.js';

describe('a failure in a browser', () => {
  it('keeps the line of the step in a form that a report shows', () => {
    const error = new Error('gone');
    error.stack = 'Error: gone\n    at <anonymous> (/house/a.ts:7:35)\n    at async run (/house/b.ts:1:2)';
    const { stack } = failureOnPages(error, 'nothing');
    expect(stack).toBe('Error: gone\n\nnothing\n    at /house/a.ts:7:35\n    at async run (/house/b.ts:1:2)');
  });

  it('says what failed and where before it says what the pages showed', () => {
    const attempts = Array.from({ length: 200 }, (_, index) => `  - attempt ${index}`);
    const error = new Error(['locator.click: Timeout 180000ms exceeded.', 'Call log:', ...attempts].join('\n'));
    const { message, stack = '' } = failureOnPages(error, 'http://here/ showed:\nNot saved');
    expect(message).toMatch(/^locator\.click: Timeout 180000ms exceeded\.\nCall log:\n {2}- attempt 0\n/);
    expect(message).not.toContain('attempt 199');
    expect(message).toMatch(/\n\nhttp:\/\/here\/ showed:\nNot saved$/);
    expect(stack.startsWith(`Error: ${message}\n    at `)).toBe(true);
    expect(stack.slice(message.length)).toContain('page-failures.e2e-spec');
  });
});
