import { endWithParent } from '#libs/service';
import { start } from './bootstrap.js';
import { answerTo } from './command-line.js';

/** Settles once the process does what it is for; whoever loads the program waits for that. */
export const begun = begin();

async function begin(): Promise<void> {
  endWithParent();
  const answer = answerTo(process.argv.slice(2));
  if (answer === undefined) return start(process.env);
  (answer.code === 0 ? process.stdout : process.stderr).write(answer.text);
  process.exitCode = answer.code;
}
