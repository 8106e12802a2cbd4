import { existsSync, readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { transformSync } from '@swc/core';
import { keptSource } from './kept-sources.mjs';

/** Module for `node --import <this file> some.ts`: compiles sources as the build does. */
registerHooks({
  resolve(specifier, context, next) {
    if (specifier.startsWith('#libs/')) return next(specifier, { ...context, conditions: ['source'] });
    const source =
      specifier.startsWith('.') && context.parentURL
        ? new URL(specifier.replace(/\.js$/, '.ts'), context.parentURL)
        : undefined;
    return source?.pathname.endsWith('.ts') && existsSync(source)
      ? next(source.href, context)
      : next(specifier, context);
  },
  load(url, context, next) {
    const { pathname } = new URL(url);
    if (!pathname.endsWith('.ts') || pathname.includes('/node_modules/')) return next(url, context);
    return { format: 'module', source: compiled(fileURLToPath(url)), shortCircuit: true };
  },
});

/** Returns a source as it is executed, with its source map. */
export function compiled(filename) {
  const source = readFileSync(filename, 'utf8');
  return keptSource(filename, source, () => transformSync(source, { filename, sourceMaps: 'inline' }).code);
}
