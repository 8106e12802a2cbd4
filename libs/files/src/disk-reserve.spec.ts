import { DiskReserve } from './disk-reserve.js';

const MEBIBYTE = 1024 ** 2;

describe('the reserve of a disk', () => {
  it('refuses the first byte on a disk that is almost full, and every upload once the reserve is reached', async () => {
    let free = 2_000 * MEBIBYTE;
    const reserve = new DiskReserve('/data', async () => ({ free, total: 100_000 * MEBIBYTE }));
    await reserve.take(1);
    free = 1_030 * MEBIBYTE;
    await reserve.take(MEBIBYTE);
    await expect(reserve.take(16 * MEBIBYTE)).rejects.toThrow(/almost full/);
    await expect(new DiskReserve('/data', async () => ({ free, total: 100_000 * MEBIBYTE })).take(1)).rejects.toThrow();
  });

  it('keeps a twentieth of a small disk free', async () => {
    const onDisk = (free: number): Promise<void> =>
      new DiskReserve('/data', async () => ({ free: free * MEBIBYTE, total: 1_000 * MEBIBYTE })).take(1);
    await onDisk(67);
    await expect(onDisk(65)).rejects.toThrow(/almost full/);
  });
});
