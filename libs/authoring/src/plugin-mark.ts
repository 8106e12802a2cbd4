/** Marks what a plugin module exports with its kind, also where the module has a copy of this package. */
export const PLUGIN: unique symbol = Symbol.for('parley-a2a/plugin');
