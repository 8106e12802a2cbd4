import { start } from './bootstrap.js';

await start(process.argv.slice(2), process.env);
