import type { Database } from '#libs/postgres';
import type { JsonObject } from '#libs/protocol';
import { DeliveryWriter, type NewDelivery } from './delivery-writer.js';

/** Writer over a database that writes everything but deliveries of the trigger `gone`, and its statements. */
function newWriter() {
  const batches: string[][] = [];
  const query = async ({ name, values }: { name: string; values: unknown[] }) => {
    if (!name.startsWith('trigger-add')) return { rows: [] };
    const written = JSON.parse(String(values[0])) as JsonObject[];
    batches.push(written.map(({ delivery_key: key }) => String(key)));
    if (written.some(({ trigger_id: id }) => id === 'gone'))
      throw Object.assign(new Error('violates a foreign key'), { code: '23503' });
    const rows = written.map(({ trigger_id: id, delivery_key: key, state }, index) => ({
      ...{ number: String(index), state, run_id: null, reason: null },
      key: `${String(id)}/${String(key)}`,
    }));
    return { rows };
  };
  return { writer: new DeliveryWriter({ pool: { query } } as unknown as Database), batches };
}

function newDelivery(deliveryId: string, more: Partial<NewDelivery> = {}): NewDelivery {
  const scope = { tenant: '', owner: 'o' };
  return { triggerId: 't', scope, workflow: 'w', deliveryId, cause: 'delivery', state: 'filtered', ...more };
}

describe('DeliveryWriter', () => {
  it('writes deliveries that arrive together in one statement, and of equal ones the first', async () => {
    const { writer, batches } = newWriter();
    const written = await Promise.all(['a', 'b', 'a'].map((id) => writer.writeDelivery(newDelivery(id))));
    expect(batches.map((keys) => keys.toSorted())).toEqual([['a', 'b']]);
    expect(written.map((it) => it !== undefined)).toEqual([true, true, false]);
  });

  it('refuses only the delivery whose trigger was deleted', async () => {
    const { writer } = newWriter();
    const [kept, gone] = await Promise.allSettled([
      writer.writeDelivery(newDelivery('a')),
      writer.writeDelivery(newDelivery('b', { triggerId: 'gone' })),
    ]);
    expect(kept).toMatchObject({ status: 'fulfilled', value: { state: 'filtered' } });
    expect(gone).toMatchObject({ status: 'rejected', reason: { status: 404 } });
  });

  it('divides large deliveries among statements', async () => {
    const { writer, batches } = newWriter();
    const event = { body: 'x'.repeat(1024 ** 2), headers: {}, query: {} } as unknown as NewDelivery['event'] & object;
    await Promise.all(['a', 'b', 'c', 'd', 'e'].map((id) => writer.writeDelivery(newDelivery(id, { event }))));
    expect(batches.map((keys) => keys.length)).toEqual([3, 2]);
  });
});
