import { marksAt } from './checked-draft.js';

describe('marksAt', () => {
  const problem = (path: string, more: object = {}) => ({ path, detail: 'Wrong', ...more });

  it('has the problems of one text that have a place in it', () => {
    const problems = [
      problem('nodes[1].config.prompt', { offset: 4, severity: 'warning' }),
      problem('nodes[1].config.prompt', { offset: 9 }),
      problem('nodes[1].config.prompt'),
      problem('nodes[10].config.prompt', { offset: 1 }),
    ];
    expect(marksAt(problems, 'nodes[1].config.prompt')).toEqual([
      { offset: 4, detail: 'Wrong', severity: 'warning' },
      { offset: 9, detail: 'Wrong', severity: 'error' },
    ]);
  });
});
