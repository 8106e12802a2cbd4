import { cardMessages } from './card-messages.js';

const CARD = {
  name: 'a',
  description: 'does',
  version: '1',
  supportedInterfaces: [{ url: 'https://a', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  capabilities: {},
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 's', name: 's', description: 'does', tags: ['t'] }],
};

describe('cardMessages', () => {
  it('has nothing to say of a whole card', () => expect(cardMessages(CARD)).toEqual([]));

  it('names every member that is missing', () => {
    expect(cardMessages({}).map(({ path }) => path)).toEqual([
      'name',
      'description',
      'version',
      'defaultInputModes',
      'defaultOutputModes',
      'capabilities',
      'supportedInterfaces',
      'skills',
    ]);
  });

  it('names the skill and the interface at fault', () => {
    const card = { ...CARD, supportedInterfaces: [{ url: 'https://a' }], skills: [{ id: 's', name: 's', tags: [] }] };
    expect(cardMessages(card)).toEqual([
      { level: 'error', path: 'supportedInterfaces[0].protocolBinding', message: 'is missing' },
      { level: 'error', path: 'supportedInterfaces[0].protocolVersion', message: 'is missing' },
      { level: 'error', path: 'skills[0].description', message: 'is missing' },
      { level: 'warning', path: 'skills[0].tags', message: 'is empty' },
    ]);
  });
});
