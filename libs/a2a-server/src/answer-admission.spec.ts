import { ResponseBudget } from '#libs/http-server';
import { Metrics } from '#libs/service';
import { AnswerAdmission } from './public-error.js';
import { TaskItems } from './task-stream.js';

/**
 * Creates the admission of one call. @returns the admission, a reader of the held bytes, and the function that ends the
 * call
 */
function oneCall() {
  const metrics = new Metrics();
  const room = new ResponseBudget({ memory: { answerBytes: 100 } } as never, metrics);
  const answered: (() => void)[] = [];
  const call = { scope: { tenant: '', owner: 'ann' }, whenAnswered: (done: () => void) => answered.push(done) > 0 };
  const held = async (): Promise<number> =>
    Number(/^parley_answer_bytes (\d+)/m.exec(await metrics.readExposition())?.[1]);
  return { admission: new AnswerAdmission(room, call), held, end: () => answered.forEach((done) => done()) };
}

describe('AnswerAdmission', () => {
  it('has room for a second read that is as small, and gets more without waiting for its own', async () => {
    const { admission, held, end } = oneCall();
    await admission.admitBytes(60);
    await admission.admitBytes(40);
    expect(await held()).toBe(60);
    await admission.admitBytes(90);
    expect(await held()).toBe(90);
    end();
    expect(await held()).toBe(0);
  });

  it('is over once the opening of a stream has been taken, which may last for hours', async () => {
    const { admission, held, end } = oneCall();
    await admission.admitBytes(60);
    const begin = async () => ({ opening: [{} as never], room: admission });
    const open = await new TaskItems({} as never, begin).openItems();
    expect(await open.readItems()).toHaveLength(1);
    expect(await held()).toBe(60);
    await open.readItems();
    expect(await held()).toBe(0);
    end();
    expect(await held()).toBe(0);
  });

  it('is over where a stream is closed before', async () => {
    const { admission, held } = oneCall();
    await admission.admitBytes(60);
    const items = new TaskItems({} as never, async () => ({ opening: [{} as never], room: admission }));
    await items.next();
    expect(await held()).toBe(60);
    await items.return();
    expect(await held()).toBe(0);
  });
});
