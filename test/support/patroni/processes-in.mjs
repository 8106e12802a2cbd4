import { readdirSync, readlinkSync } from 'node:fs';

/** The ids of the processes that work in a folder or below it, whoever started them. Zombies work nowhere. */
export function processesIn(folder) {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => isIn(folder, workingFolder(pid)));
}

function isIn(folder, path) {
  return path === folder || path.startsWith(`${folder}/`);
}

function workingFolder(pid) {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return '';
  }
}
