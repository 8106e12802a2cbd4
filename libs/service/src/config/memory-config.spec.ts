import { ConfigError, loadConfig } from './load-config.js';
import { memoryOf } from './memory-config.js';

const GIVEN = { EVENT_LIMIT: 1, JOURNAL_BATCH_LIMIT: 2, JOURNAL_STALL_LIMIT: 3, NODES_AT_WORK_LIMIT: 4 };

describe('memoryOf', () => {
  it('takes what may be in flight from the heap that the process may have', () => {
    expect(memoryOf(GIVEN, false, 4 * 1024 ** 3).inFlightBytes).toBe(1024 ** 3);
    expect(memoryOf(GIVEN, false, 256 * 1024 ** 2).inFlightBytes).toBe(64 * 1024 ** 2);
    expect(memoryOf(GIVEN, false, 1024).inFlightBytes).toBe(32 * 1024 ** 2);
  });

  it('takes the room for answers from it, too', () => {
    expect(memoryOf(GIVEN, false, 4 * 1024 ** 3).answerBytes).toBe(256 * 1024 ** 2);
    expect(memoryOf(GIVEN, false, 1024).answerBytes).toBe(8 * 1024 ** 2);
  });

  it('gives one caller half of it, where callers have names', () => {
    expect(memoryOf({ ...GIVEN, IN_FLIGHT_LIMIT: 1000 }, true)).toMatchObject({ callerInFlightBytes: 500 });
    expect(memoryOf({ ...GIVEN, IN_FLIGHT_LIMIT: 1000 }, false)).toMatchObject({ callerInFlightBytes: Infinity });
  });
});

describe('loadConfig', () => {
  it('reads the limits on memory', () => {
    const { memory } = loadConfig({
      IN_FLIGHT_LIMIT: '64mb',
      CALLER_IN_FLIGHT_LIMIT: '16mb',
      EVENT_LIMIT: '1mb',
      JOURNAL_BATCH_LIMIT: '4mb',
      ANSWER_LIMIT: '24mb',
      JOURNAL_STALL_LIMIT: '30s',
      NODES_AT_WORK_LIMIT: '256',
    });
    expect(memory).toEqual({
      inFlightBytes: 64 * 1024 ** 2,
      callerInFlightBytes: 16 * 1024 ** 2,
      eventBytes: 1024 ** 2,
      journalBatchBytes: 4 * 1024 ** 2,
      answerBytes: 24 * 1024 ** 2,
      journalStallMs: 30_000,
      nodesAtWork: 256,
    });
  });

  it.each([
    ['EVENT_LIMIT', '1gb'],
    ['JOURNAL_BATCH_LIMIT', 'x'],
    ['IN_FLIGHT_LIMIT', '12'],
    ['CALLER_IN_FLIGHT_LIMIT', '-1'],
    ['JOURNAL_STALL_LIMIT', '10ms'],
    ['NODES_AT_WORK_LIMIT', '0'],
    ['NODES_AT_WORK_LIMIT', '10001'],
    ['NODES_AT_WORK_LIMIT', 'many'],
  ])('refuses %s=%s', (name, value) => {
    expect(() => loadConfig({ [name]: value })).toThrow(ConfigError);
    expect(() => loadConfig({ [name]: value })).toThrow(new RegExp(`${name}: must be`));
  });
});
