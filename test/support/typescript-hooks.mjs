import { existsSync, readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { transformSync } from '@swc/core';

/** `node --conditions=source --import <this file> some.ts`: runs the sources as the build would compile them. */
registerHooks({
  resolve(specifier, context, next) {
    const source =
      specifier.startsWith('.') && context.parentURL
        ? new URL(specifier.replace(/\.js$/, '.ts'), context.parentURL)
        : undefined;
    return source?.pathname.endsWith('.ts') && existsSync(source)
      ? next(source.href, context)
      : next(specifier, context);
  },
  load(url, context, next) {
    if (!url.endsWith('.ts') || url.includes('/node_modules/')) return next(url, context);
    const filename = fileURLToPath(url);
    const { code } = transformSync(readFileSync(filename, 'utf8'), { filename, sourceMaps: 'inline' });
    return { format: 'module', source: code, shortCircuit: true };
  },
});
