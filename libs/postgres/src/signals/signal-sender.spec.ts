import { readPayload, SignalSender } from './channel-signals.js';

type Sent = Record<string, string[]>;

/** A database whose statements end when the test says so. */
class HeldDatabase {
  readonly statements: Sent[] = [];
  private readonly pending: { resolve(): void; reject(error: Error): void }[] = [];
  private arrived: () => void = () => undefined;

  readonly notify = (channels: readonly string[], payloads: readonly string[]): Promise<void> => {
    const sent: Sent = {};
    channels.forEach((channel, index) => {
      sent[channel] = [...(sent[channel] ?? []), ...(readPayload(payloads[index])?.keys ?? [])];
    });
    this.statements.push(sent);
    this.arrived();
    return new Promise((resolve, reject) => this.pending.push({ resolve, reject }));
  };

  async statement(index: number): Promise<Sent> {
    while (this.statements.length <= index) await new Promise<void>((resolve) => (this.arrived = resolve));
    return this.statements[index]!;
  }

  answer(error?: Error): void {
    const first = this.pending.shift();
    if (error) first?.reject(error);
    else first?.resolve();
  }
}

describe('SignalSender', () => {
  it('sends the keys of one turn in one statement, each once, and what comes meanwhile with the next', async () => {
    const database = new HeldDatabase();
    const sender = new SignalSender('me', database.notify);
    for (const key of ['1', '2', '1']) sender.queueSignal('a', key);
    sender.queueSignal('b', '3');
    expect(await database.statement(0)).toEqual({ a: ['1', '2'], b: ['3'] });
    for (const key of ['1', '4', '4']) sender.queueSignal('a', key);
    await turn();
    expect(database.statements).toHaveLength(1);
    database.answer();
    expect(await database.statement(1)).toEqual({ a: ['1', '4'] });
    database.answer();
  });

  it('sends on after a statement that failed, without what was in it', async () => {
    const database = new HeldDatabase();
    const failures: unknown[] = [];
    const sender = new SignalSender('me', database.notify, (error) => failures.push(error));
    sender.queueSignal('a', '1');
    await database.statement(0);
    const broken = new Error('no database');
    database.answer(broken);
    sender.queueSignal('a', '2');
    expect(await database.statement(1)).toEqual({ a: ['2'] });
    expect(failures).toEqual([broken]);
    database.answer();
  });

  it('keeps no more than ten thousand keys for a database that does not answer', async () => {
    const database = new HeldDatabase();
    const sender = new SignalSender('me', database.notify);
    sender.queueSignal('a', 'first');
    await database.statement(0);
    for (let key = 0; key < 20_000; key += 1) sender.queueSignal('a', String(key));
    database.answer();
    expect((await database.statement(1)).a).toHaveLength(10_000);
    database.answer();
  });

  it('flush resolves when all is sent, also what came while it waited', async () => {
    const database = new HeldDatabase();
    const sender = new SignalSender('me', database.notify);
    sender.queueSignal('a', '1');
    const flushed = sender.sendRemaining();
    await database.statement(0);
    sender.queueSignal('a', '2');
    database.answer();
    await database.statement(1);
    database.answer();
    await flushed;
    expect(database.statements).toEqual([{ a: ['1'] }, { a: ['2'] }]);
    await sender.sendRemaining();
    expect(database.statements).toHaveLength(2);
  });
});

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
