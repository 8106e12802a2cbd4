import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import { defineNode, defineTool, Failure, onFact, StepError } from '#libs/authoring';

/** Where the modules that are offered are found by their own text: a name that no package can have. */
const OFFERED = Symbol.for('parley-a2a/modules');
const SCHEME = 'parley-offered:';

/** What authors import by these names is this program's, whatever is installed beside their files. */
const offered = new Map<string, object>([
  ['parley-a2a/plugin', { defineNode, defineTool, Failure, onFact, StepError }],
]);
let isHooked = false;

/**
 * Imports a module that somebody else wrote, and gives its default export. It may import `parley-a2a/plugin`, and
 * whatever `more` names.
 * @throws what the module throws, or why there is none
 */
export async function importDefault(path: string, more: Record<string, object> = {}): Promise<unknown> {
  for (const [name, exports] of Object.entries(more)) offered.set(name, exports);
  hook();
  const { default: found } = (await import(pathToFileURL(path).href)) as { default?: unknown };
  return found;
}

function hook(): void {
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

/** Authors write modules, whatever the package.json of their folder says, and where there is none. */
function isOwnTypeScript(url: string): boolean {
  return /^file:.*\.ts$/.test(url) && !url.includes('/node_modules/');
}

function sourceOf(name: string): string {
  const names = Object.keys(offered.get(name) ?? {});
  const from = `globalThis[Symbol.for('parley-a2a/modules')].get(${JSON.stringify(name)})`;
  return `export const { ${names.join(', ')} } = ${from};`;
}
