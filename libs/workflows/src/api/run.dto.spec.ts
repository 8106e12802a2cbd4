import { ApiValidationPipe, pageTokenAfter, ProblemError } from '#libs/http-server';
import { RerunBody } from './run.dto.js';
import { RunQuery } from './run-query.js';

function readRunQuery(query: Record<string, unknown>): RunQuery {
  return new ApiValidationPipe().transform(query, { type: 'query', metatype: RunQuery }) as RunQuery;
}

function pathOf(act: () => unknown): string | undefined {
  try {
    act();
  } catch (error) {
    if (error instanceof ProblemError) return error.errors[0]?.path;
    throw error;
  }
  throw new Error('Expected a refusal');
}

describe('RerunBody', () => {
  const read = (body: unknown) =>
    new ApiValidationPipe().transform(body, { type: 'body', metatype: RerunBody }) as unknown;

  it('is everything anew where nothing was sent', () => {
    expect(read(undefined)).toEqual({});
    expect(read({})).toEqual({});
  });

  it('reads an edited prompt, and names what does not fit', () => {
    const edit = { node: 'a', prompt: 'Hello' };
    expect(read({ edit })).toEqual({ edit });
    const faults = [
      1,
      { node: 'a' },
      { ...edit, prompt: ' ' },
      { ...edit, prompt: 'é'.repeat(32_769) },
      { prompt: 'x' },
      { ...edit, system: 'x' },
    ];
    expect(faults.map((fault) => pathOf(() => read({ edit: fault })))).toEqual([
      ...['edit', 'edit.prompt', 'edit.prompt', 'edit.prompt', 'edit.node', 'edit.system'],
    ]);
  });

  it.each(['zz', 'form', 'Failed'])('refuses a member %s, which it does not know, by name', (name) => {
    expect(pathOf(() => read({ [name]: 1 }))).toBe(name);
  });
});

describe('RunQuery', () => {
  it('has defaults', () => {
    expect(readRunQuery({})).toEqual({ pageSize: 50, workflow: undefined, status: undefined, before: undefined });
  });

  it('reads what it is given, and its own tokens', () => {
    const before = { updatedAt: new Date(1_700_000_000_123), taskId: '0190-abc' };
    const query = { workflow: 'w', status: 'input-required', pageSize: '7', pageToken: pageTokenAfter(before) };
    expect(readRunQuery(query)).toMatchObject({ workflow: 'w', status: 'input-required', pageSize: 7, before });
  });

  it.each([
    ['workflow', 'a b'],
    ['workflow', 'a\u0000'],
    ['workflow', ['a', 'b']],
    ['status', 'gone'],
    ['status', 'constructor'],
    ['pageSize', '0'],
    ['pageSize', '101'],
    ['pageSize', '1e1'],
    ['pageToken', 'x'],
    ['pageToken', Buffer.from('99999999999999999.a').toString('base64url')],
    ['pageToken', Buffer.from('1.\u0000').toString('base64url')],
  ])('refuses %s=%j by name', (name, value) => {
    expect(pathOf(() => readRunQuery({ [name]: value }))).toBe(name);
  });
});
