/** Symbol that marks exports of a plugin module with their kind, even across copies of this package. */
export const PLUGIN: unique symbol = Symbol.for('parley-a2a/plugin');
