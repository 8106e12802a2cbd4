/** The configuration is unusable. `lines` has one line per bad key, names keys only and never prints a value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(readonly lines: readonly string[]) {
    super(`Bad configuration:\n${lines.join('\n')}`);
  }
}
