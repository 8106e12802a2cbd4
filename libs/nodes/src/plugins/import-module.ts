import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import { defineNode, defineTool, Failure, onFact, StepError } from '#libs/authoring';

/** Key of the offered modules in the global object. */
const OFFERED = Symbol.for('parley-a2a/modules');
const SCHEME = 'parley-offered:';

/** Modules of this program that authors import by these names, whatever is installed beside their files. */
const offered = new Map<string, object>([
  ['parley-a2a/plugin', { defineNode, defineTool, Failure, onFact, StepError }],
]);
let isHooked = false;

/**
 * Imports a module of another author, and returns its default export. The module may import `parley-a2a/plugin` and the
 * modules in `more`.
 * @throws the module's error, or the reason why it cannot be imported
 */
export async function importDefault(path: string, more: Record<string, object> = {}): Promise<unknown> {
  for (const [name, exports] of Object.entries(more)) offered.set(name, exports);
  installHooks();
  const { default: found } = (await import(pathToFileURL(path).href)) as { default?: unknown };
  return found;
}

function installHooks(): void {
  if (isHooked) return;
  isHooked = true;
  Object.assign(globalThis, { [OFFERED]: offered });
  registerHooks({
    resolve: (specifier, context, next) => {
      if (offered.has(specifier)) return { url: SCHEME + specifier, shortCircuit: true };
      const found = next(specifier, context);
      return isOwnTypeScript(found.url) ? { ...found, format: 'module-typescript' } : found;
    },
    load: (url, context, next) => {
      if (!url.startsWith(SCHEME)) return next(url, context);
      return { format: 'module', source: sourceOf(url.slice(SCHEME.length)), shortCircuit: true };
    },
  });
}

/** True for TypeScript files outside of packages. They are ES modules, whatever package.json says. */
function isOwnTypeScript(url: string): boolean {
  return /^file:.*\.ts$/.test(url) && !url.includes('/node_modules/');
}

function sourceOf(name: string): string {
  const names = Object.keys(offered.get(name) ?? {});
  const from = `globalThis[Symbol.for('parley-a2a/modules')].get(${JSON.stringify(name)})`;
  return `export const { ${names.join(', ')} } = ${from};`;
}
