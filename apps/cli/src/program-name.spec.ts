import { programName } from './program-name.js';

describe('the name of the program in proposed commands', () => {
  it.each([
    ['npx --no parley-a2a', { npm_command: 'exec', npm_lifecycle_event: 'npx' }],
    ['npm run parley --', { npm_command: 'run-script', npm_lifecycle_event: 'parley' }],
    ['parley', { npm_command: 'run-script', npm_lifecycle_event: 'demo' }],
    ['parley', {}],
  ])('is %s for %j', (name, env) => {
    expect(programName(env)).toBe(name);
  });
});
