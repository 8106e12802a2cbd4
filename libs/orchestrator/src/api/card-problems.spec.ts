import { cardProblems } from './card-problems.js';

const GOOD = {
  name: 'a',
  description: 'b',
  version: '1',
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 's', name: 's', description: 's', tags: [] }],
  supportedInterfaces: [{ url: 'http://a/', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  capabilities: {},
};

describe('cardProblems', () => {
  it('finds nothing wrong with a good card', () => expect(cardProblems(GOOD)).toEqual([]));

  it('names every member that is missing', () => {
    expect(cardProblems({}).map(({ path }) => path)).toEqual([
      'name',
      'description',
      'version',
      'defaultInputModes',
      'defaultOutputModes',
      'skills',
      'supportedInterfaces',
    ]);
  });

  it('looks into interfaces and skills', () => {
    const skills = [{ ...GOOD.skills[0]!, id: '' }];
    const supportedInterfaces = [{ url: '/relative', protocolBinding: '', protocolVersion: '1.0' }];
    expect(cardProblems({ ...GOOD, skills, supportedInterfaces }).map(({ path }) => path)).toEqual([
      'supportedInterfaces[0].url',
      'supportedInterfaces[0].protocolBinding',
      'skills[0].id',
    ]);
  });
});
