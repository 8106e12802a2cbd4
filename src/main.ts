import { endWithParent } from '#libs/service';
import { startService } from './bootstrap.js';
import { answerTo } from './command-line.js';

/** Promise that settles once the service is ready, or has failed to start; the loader of the program waits for it. */
export const begun = startProgram();

async function startProgram(): Promise<void> {
  endWithParent();
  const answer = answerTo(process.argv.slice(2));
  if (answer === undefined) return startService(process.env);
  (answer.code === 0 ? process.stdout : process.stderr).write(answer.text);
  process.exitCode = answer.code;
}
