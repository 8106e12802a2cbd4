import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readFolder } from './workflow-files.js';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-files-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function written(name: string, text: string | Buffer): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const read = (where = folder) => readFolder(where, {}).workflows;

describe('readFolder', () => {
  it.each([
    ['YAML that is none', 'a.yaml', 'name: x\nnodes:\n- {id: a\n', /a\.yaml: .+ at line \d+, column \d+$/],
    ['JSON that is none', 'a.json', '{"name":"x",\n"nodes": [}', /a\.json: Unexpected token '}' at line 2, column 11$/],
    [
      'a star that names nothing',
      'a.yaml',
      'name: x\ndescription: *soon\nnodes: []\n',
      /a\.yaml: Unresolved alias .*soon/,
    ],
    [
      'no name',
      'a.yaml',
      'nodes: [{ id: a, type: input }]\n',
      /a\.yaml:1: a workflow needs a name and a list of nodes$/,
    ],
    [
      'two documents',
      'a.yaml',
      'name: x\nnodes: []\n---\nname: y\n',
      /a\.yaml: has several documents; a file has one w/,
    ],
    [
      'nodes that are a map',
      'a.yaml',
      'name: x\nnodes:\n  a: { type: input }\n',
      /a\.yaml:3: a workflow needs a name and a list/,
    ],
    ['nodes that are null', 'a.yaml', 'name: x\nnodes:\n', /a workflow needs a name and a list of nodes$/],
    ['nodes that are text', 'a.json', '{"name":"x","nodes":"a, b"}', /a\.json:1: a workflow needs a name and a list/],
    ['edges that are a map', 'a.yaml', 'name: x\nedges: { a: b }\n', /a workflow needs a name and a list of nodes$/],
    ['edges without nodes', 'a.yaml', 'name: x\nedges: [{ from: a, to: b }]\n', /a workflow needs a name/],
  ])('says in one line what is wrong with %s', (_, name, text, sentence) => {
    written(name, text);
    expect(() => read()).toThrow(sentence);
    expect(() => read()).toThrow(/^[^\n]+$/);
  });

  it('names a file that cannot be read', () => {
    symlinkSync(join(folder, 'nowhere'), join(folder, 'a.yaml'));
    expect(() => read()).toThrow(/a\.yaml: cannot be read \(ENOENT\)/);
  });

  it('takes no workflow for another one that is not UTF-8, and passes over what is none', () => {
    const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');
    written('other.yaml', latin1('owner: José\n'));
    expect(read()).toEqual([]);
    written('a.yaml', latin1('name: x\ndescription: José\nnodes: []\n'));
    expect(() => read()).toThrow(/^[^\n]*a\.yaml: is not UTF-8$/);
  });

  it('passes over what is no workflow, unless it was named', () => {
    const other = written('script.json', '{"rules":[]}');
    written('flow.json', '\uFEFF{"name":"flow","nodes":[]}');
    written('manifests.yaml', 'kind: Service\n---\nkind: Deployment\n');
    written('launch.json', '{"cwd":"${env:NOT_SET}"}');
    expect(read().map(({ definition }) => definition.name)).toEqual(['flow']);
    expect(() => read(other)).toThrow(/script\.json: a workflow has a name and nodes$/);
    expect(() => read(join(folder, 'nope'))).toThrow(
      /nope does not exist; create workflows from a template with `parley init`/,
    );
  });
});
