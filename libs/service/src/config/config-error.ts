/**
 * Reports an unusable configuration. `lines` has one line per bad key; a line names keys only and never contains a
 * value.
 */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(readonly lines: readonly string[]) {
    super(`Bad configuration:\n${lines.join('\n')}`);
  }
}
