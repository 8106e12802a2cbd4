import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { logConsole } from './logging.js';

describe('logConsole', () => {
  const printer = globalThis.console;
  const { error, warn, trace } = printer;
  afterEach(() => {
    Object.assign(printer, { error, warn, trace });
    jest.restoreAllMocks();
  });

  it('makes one line of the log of what is printed', () => {
    const printed = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
    const logged = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    logConsole();
    const fault = new Error('the worker ended');
    printer.trace(fault);
    printer.error('E %s of %d', 'none', 1);
    printer.warn('old');
    expect(logged.mock.calls).toEqual([[{ err: fault }, 'the worker ended'], ['E none of 1'], ['old']]);
    expect(printed).not.toHaveBeenCalled();
  });
});
