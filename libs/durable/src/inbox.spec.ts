import { AsyncQueue } from './durable-execution.js';

describe('Inbox', () => {
  const live = new AbortController().signal;

  test('gives items in order, and lets each writer go on only when its item was taken', async () => {
    const inbox = new AsyncQueue<number>();
    const taken: number[] = [];
    void inbox.putItem(1).then(() => taken.push(1));
    void inbox.putItem(2).then(() => taken.push(2));
    expect(await inbox.takeItem(live)).toBe(1);
    await Promise.resolve();
    expect(taken).toEqual([1]);
    expect(await inbox.takeItem(live)).toBe(2);
  });

  test('waits for an item', async () => {
    const inbox = new AsyncQueue<string>();
    const item = inbox.takeItem(live);
    void inbox.putItem('late');
    expect(await item).toBe('late');
  });

  test('throws the reason of an abort, while it waits and before', async () => {
    const inbox = new AsyncQueue<string>();
    const controller = new AbortController();
    const item = inbox.takeItem(controller.signal);
    controller.abort(new Error('enough'));
    await expect(item).rejects.toThrow('enough');
    void inbox.putItem('there');
    await expect(inbox.takeItem(controller.signal)).rejects.toThrow('enough');
  });
});
