import { globSync, readFileSync } from 'node:fs';

const NAME = '[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*';
const sources = globSync('{libs,src,apps}/**/*.ts').filter((it) => !/\.spec\.ts$|\/testing\/|apps\/console\//.test(it));
const pages = ['README.md', ...globSync('docs/**/*.md')];

/** The variables that the service and the command read: members of an environment, and keys of tables of variables. */
function read(): string[] {
  const names = sources.flatMap((file) => {
    const text = readFileSync(file, 'utf8');
    const members = text.matchAll(new RegExp(`\\b(?:env|given)(?:\\.|\\[')(${NAME})\\b`, 'g'));
    const keys = file.includes('service/src/config') ? text.matchAll(new RegExp(`(?:^  |{ )(${NAME}):`, 'gm')) : [];
    return [...members, ...keys].map(([, name = '']) => name);
  });
  return [...new Set(names)].toSorted();
}

/** The variables that stand in the first column of a table of variables. */
function listed(): string[] {
  const names = pages.flatMap((page) => {
    const tables = readFileSync(page, 'utf8').matchAll(/^\| variable .*\n\|[ -|:]+\n((?:\|.*\n)*)/gm);
    const rows = [...tables].flatMap(([, body = '']) => body.trimEnd().split('\n'));
    const first = rows.map((row) => row.slice(1).split('|', 1)[0] ?? '');
    return first.flatMap((cell) => [...cell.matchAll(new RegExp(`\`(${NAME})\``, 'g'))].map(([, name = '']) => name));
  });
  return [...new Set(names)].toSorted();
}

describe('variables', () => {
  it('that are read are told of in the docs', () => {
    const text = pages.map((page) => readFileSync(page, 'utf8')).join('\n');
    const untold = read().filter((name) => !new RegExp(`\`${name}[\`=]`).test(text));
    expect({ read: read().length > 50, untold }).toEqual({ read: true, untold: [] });
  });

  it('that the tables of the docs list are read', () => {
    const known = new Set(read());
    const unread = listed().filter((name) => !known.has(name));
    expect({ listed: listed().length > 40, unread }).toEqual({ listed: true, unread: [] });
  });
});
