/** Arguments of `npm run demo`. */
import { UsageError } from '../usage-error.mjs';

const OPTIONS = ['--once', '--model'];

/** Returns the options of the demo. @throws UsageError for any other argument */
export function demoOptions(args) {
  const unknown = args.find((it) => !OPTIONS.includes(it));
  if (unknown !== undefined)
    throw new UsageError(`The demo has no option "${unknown}". Its options are ${OPTIONS.join(' and ')}.`);
  return { once: args.includes('--once'), withModel: args.includes('--model') };
}
