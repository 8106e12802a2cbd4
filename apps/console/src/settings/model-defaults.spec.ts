import { readModelDefaults } from './model-defaults.js';

function form(fields: Record<string, string>): FormData {
  const data = new FormData();
  for (const [field, value] of Object.entries(fields)) data.set(`defaults.${field}`, value);
  return data;
}

describe('the defaults in the form of a model', () => {
  it('are the fields that have a value', () => {
    const fields = {
      temperature: '0',
      topP: '',
      stop: 'END, STOP',
      maxTokens: '2000',
      waitSeconds: '',
      toolCalls: 'schema',
    };
    expect(readModelDefaults(form(fields))).toEqual({
      temperature: 0,
      stop: ['END', 'STOP'],
      maxTokens: 2_000,
      toolCalls: 'schema',
    });
  });

  it('are absent where no field has a value', () => {
    expect(readModelDefaults(form({ temperature: '', stop: ' ', toolCalls: '' }))).toBeUndefined();
  });

  it('keep stored texts that the field cannot show, unless the field is changed', () => {
    const stored = { stop: ['\n', 'a, b'] };
    expect(readModelDefaults(form({ stop: ', a, b' }), stored)).toEqual({ stop: ['\n', 'a, b'] });
    expect(readModelDefaults(form({ stop: 'END' }), stored)).toEqual({ stop: ['END'] });
    expect(readModelDefaults(form({ stop: '' }), stored)).toBeUndefined();
  });
});
