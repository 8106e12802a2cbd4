/** Arguments of `npm run real`. */
import { UsageError } from '../usage-error.mjs';

/**
 * Returns the names of the checks to run, each once, in the order of `names`: all of them without arguments. Returns
 * `list` if their names are to be printed.
 * @throws UsageError for a name that no check has, and for another option
 */
export function chosenChecks(args, names) {
  if (args.length === 1 && args[0] === '--list') return 'list';
  const unknown = args.find((it) => !names.includes(it));
  if (unknown !== undefined)
    throw new UsageError(`There is no check "${unknown}". Name some of ${names.join(', ')}, or give --list alone.`);
  return args.length === 0 ? [...names] : names.filter((it) => args.includes(it));
}
