import { Inbox } from './inbox.js';

describe('Inbox', () => {
  const live = new AbortController().signal;

  test('gives items in order, and lets each writer go on only when its item was taken', async () => {
    const inbox = new Inbox<number>();
    const taken: number[] = [];
    void inbox.put(1).then(() => taken.push(1));
    void inbox.put(2).then(() => taken.push(2));
    expect(await inbox.take(live)).toBe(1);
    await Promise.resolve();
    expect(taken).toEqual([1]);
    expect(await inbox.take(live)).toBe(2);
  });

  test('waits for an item', async () => {
    const inbox = new Inbox<string>();
    const item = inbox.take(live);
    void inbox.put('late');
    expect(await item).toBe('late');
  });

  test('throws the reason of an abort, while it waits and before', async () => {
    const inbox = new Inbox<string>();
    const controller = new AbortController();
    const item = inbox.take(controller.signal);
    controller.abort(new Error('enough'));
    await expect(item).rejects.toThrow('enough');
    void inbox.put('there');
    await expect(inbox.take(controller.signal)).rejects.toThrow('enough');
  });
});
