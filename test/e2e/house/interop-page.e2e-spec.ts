import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { openPlaces, type Outcomes, PLACES } from '../../interop/cells.js';
import { type Framework, FRAMEWORKS, testedPackages } from '../../interop/frameworks.js';
import { withTables, withWritten } from '../../interop/page.js';
import { ALL_PEERS, keptOutcomes, PEERS } from '../../interop/peers/peer-catalog.js';
import { openCells, type PeerLanguage, type PeerOutcomes } from '../../interop/peers/peer-cells.js';
import { peerTables } from '../../interop/peers/peer-page.js';

const ROOT = resolve(import.meta.dirname, '../../..');
const text = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const outcomes = JSON.parse(text('test/interop/cells.json')) as Outcomes;
const frameworks = Object.keys(FRAMEWORKS) as Framework[];

describe('The page of agents of other frameworks (npm run interop writes it)', () => {
  it('has the tables of what ran', () => {
    const page = text('docs/INTEROP.md');
    expect(page).toBe(withTables(page, outcomes));
  });

  it('tells of every framework, direction and operation, and of no failure', () => {
    expect({ places: PLACES.length, open: openPlaces(outcomes) }).toEqual({ places: frameworks.length * 9, open: [] });
  });

  it.each(frameworks)('tells of the versions of %s that are pinned', (framework) => {
    expect(outcomes[framework].packages).toEqual(testedPackages(framework));
  });

  it('tells of the versions of the SDK whose servers the tests call', () => {
    const { dependencies, devDependencies } = JSON.parse(text('package.json')) as Record<string, object>;
    expect({ ...dependencies, ...devDependencies }).toMatchObject({
      '@a2a-js/sdk': testedPackages('sdk10')['@a2a-js/sdk'],
      'a2a-sdk-v0': `npm:@a2a-js/sdk@${testedPackages('sdk03')['@a2a-js/sdk']}`,
    });
  });

  it('has the tables of the peers in other languages, whose cells are all filled', () => {
    const kept = (Object.keys(PEERS) as PeerLanguage[]).map(keptOutcomes);
    const ran = Object.assign({}, ...kept) as PeerOutcomes;
    expect(openCells(ran, ALL_PEERS)).toEqual([]);
    const page = text('docs/INTEROP.md');
    expect(page).toBe(withWritten(page, 'peers', peerTables(ALL_PEERS, ran)));
  });
});
