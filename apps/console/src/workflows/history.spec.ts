import { changed, historyOf, redone, undone } from './history.js';

describe('a history', () => {
  it('goes back and forth', () => {
    const two = changed(changed(historyOf('a'), 'b'), 'c');
    expect(undone(two).present).toBe('b');
    expect(undone(undone(two)).present).toBe('a');
    expect(redone(undone(two)).present).toBe('c');
  });

  it('stays where there is nothing to undo or redo', () => {
    expect(undone(historyOf('a')).present).toBe('a');
    expect(redone(historyOf('a')).present).toBe('a');
  });

  it('undoes changes about the same together', () => {
    const typed = ['h', 'hi', 'hi!'].reduce((history, text) => changed(history, text, 'name'), historyOf(''));
    expect(undone(typed).present).toBe('');
    expect(undone(changed(typed, 'x', 'other')).present).toBe('hi!');
  });

  it('forgets what was undone when something else is done', () => {
    expect(redone(changed(undone(changed(historyOf('a'), 'b')), 'c')).present).toBe('c');
  });

  it('takes what changes nothing for no change', () => {
    const history = historyOf('a');
    expect(changed(history, 'a')).toBe(history);
  });
});
