import { ContentUnavailable } from './file-storage.js';
import { DiskReserve } from './spooled-content.js';

const MEBIBYTE = 1024 ** 2;

describe('the reserve of a disk', () => {
  it('refuses an upload that begins on a disk that is almost full, and one that fills it', async () => {
    let free = 2_000 * MEBIBYTE;
    const reserve = new DiskReserve('/data', async () => ({ free, total: 100_000 * MEBIBYTE }));
    await reserve.checkDisk();
    free = 1_030 * MEBIBYTE;
    await reserve.countBytes(MEBIBYTE);
    await expect(reserve.countBytes(16 * MEBIBYTE)).rejects.toThrow(/almost full/);
    await expect(reserve.checkDisk()).rejects.toThrow(/almost full/);
  });

  it('refuses all uploads under way once the disk is almost full, until there is room again', async () => {
    let free = 0;
    const reserve = new DiskReserve('/data', async () => ({ free, total: 100_000 * MEBIBYTE }));
    for (const bytes of [16 * MEBIBYTE, 1, 1]) await expect(reserve.countBytes(bytes)).rejects.toThrow(/almost full/);
    free = 2_000 * MEBIBYTE;
    await reserve.countBytes(1);
    free = 0;
    await reserve.countBytes(1);
  });

  it('counts the bytes of all uploads together', async () => {
    let looks = 0;
    const reserve = new DiskReserve('/data', async () => {
      looks += 1;
      return { free: 2_000 * MEBIBYTE, total: 100_000 * MEBIBYTE };
    });
    for (let upload = 0; upload < 64; upload += 1) await reserve.countBytes(MEBIBYTE);
    expect(looks).toBe(4);
  });

  it('refuses uploads to a disk that cannot be measured', async () => {
    const reserve = new DiskReserve('/data', () => Promise.reject(new Error('ENOSYS')));
    await expect(reserve.checkDisk()).rejects.toThrow(ContentUnavailable);
  });

  it('keeps a twentieth of a small disk free', async () => {
    const onDisk = (free: number): Promise<void> =>
      new DiskReserve('/data', async () => ({ free: free * MEBIBYTE, total: 1_000 * MEBIBYTE })).checkDisk();
    await onDisk(67);
    await expect(onDisk(65)).rejects.toThrow(/almost full/);
  });
});
