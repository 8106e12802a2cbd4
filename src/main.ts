import { start } from './bootstrap.js';
import { answerTo } from './command-line.js';

const answer = answerTo(process.argv.slice(2));
if (answer === undefined) await start(process.env);
else {
  (answer.code === 0 ? process.stdout : process.stderr).write(answer.text);
  process.exitCode = answer.code;
}
