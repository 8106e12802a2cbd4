import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Numbers of contents of files that a service stores in its folder, and of temporary files. */
export interface StoredContents {
  contents: number;
  incoming: number;
}

export function contentsIn(dataDir: string): StoredContents {
  const root = join(dataDir, 'files');
  const folders = placesIn(dataDir).flatMap((place) =>
    readdirSync(join(root, place)).map((owner) => join(root, place, owner)),
  );
  return {
    contents: folders.reduce((sum, folder) => sum + readdirSync(folder).length, 0),
    incoming: namesIn(join(root, 'incoming')).length,
  };
}

/** Returns the names of the subfolders with contents. */
export function placesIn(dataDir: string): string[] {
  return namesIn(join(dataDir, 'files')).filter((it) => it !== 'incoming');
}

function namesIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}
