import { readdirSync, readlinkSync } from 'node:fs';

/**
 * Returns the ids of the processes whose working directory is a folder or below it, whichever process started them.
 * Zombies have no working directory.
 */
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
