/** Lengths of the changelog and of commit subjects. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../prepare.mjs';

const LONGEST_SUBJECT = 72;

/** Returns the number of lines of the longest release in a changelog, blank ones left out. */
export function longestRelease(text) {
  const releases = text.split(/^## /m).slice(1);
  return Math.max(0, ...releases.map((it) => it.split('\n').slice(1).filter(Boolean).length));
}

export function changelog(root = ROOT) {
  return readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
}

/** Returns the subjects of more than 72 characters since a commit; `undefined` where that commit is not known. */
export function longSubjects(since, root = ROOT) {
  const log = git(['log', '--format=%s', `${since}..HEAD`], root);
  return log?.split('\n').filter((subject) => subject.length > LONGEST_SUBJECT);
}

/** Returns the paths that changed since a commit, new ones among them; `undefined` where that commit is not known. */
export function changedSince(since, root = ROOT) {
  const changed = git(['diff', '--name-only', since], root);
  if (changed === undefined) return undefined;
  const added = git(['ls-files', '--others', '--exclude-standard'], root) ?? '';
  return [...new Set(`${changed}\n${added}`.split('\n').filter(Boolean))];
}

/** Returns the text of a file at a commit; `undefined` where it was not there. */
export function textAt(commit, path, root = ROOT) {
  return git(['show', `${commit}:${path}`], root);
}

/** Returns the id of the newest commit that changed a file; `undefined` outside a repository. */
export function lastCommitOf(path, root = ROOT) {
  return git(['log', '-1', '--format=%H', '--', path], root)?.trim() || undefined;
}

function git(args, root) {
  const options = { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 28, stdio: ['ignore', 'pipe', 'ignore'] };
  try {
    return execFileSync('git', args, options);
  } catch {
    return undefined;
  }
}
