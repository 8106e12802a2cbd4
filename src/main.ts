import { start } from './bootstrap.js';

await start(process.env);
