import { recordChange, historyOf, redoChange, undoChange } from './history.js';

describe('a history', () => {
  it('goes back and forth', () => {
    const two = recordChange(recordChange(historyOf('a'), 'b'), 'c');
    expect(undoChange(two).present).toBe('b');
    expect(undoChange(undoChange(two)).present).toBe('a');
    expect(redoChange(undoChange(two)).present).toBe('c');
  });

  it('stays where there is nothing to undo or redo', () => {
    expect(undoChange(historyOf('a')).present).toBe('a');
    expect(redoChange(historyOf('a')).present).toBe('a');
  });

  it('undoes changes about the same together', () => {
    const typed = ['h', 'hi', 'hi!'].reduce((history, text) => recordChange(history, text, 'name'), historyOf(''));
    expect(undoChange(typed).present).toBe('');
    expect(undoChange(recordChange(typed, 'x', 'other')).present).toBe('hi!');
  });

  it('forgets what was undone when something else is done', () => {
    expect(redoChange(recordChange(undoChange(recordChange(historyOf('a'), 'b')), 'c')).present).toBe('c');
  });

  it('takes what changes nothing for no change', () => {
    const history = historyOf('a');
    expect(recordChange(history, 'a')).toBe(history);
  });
});
