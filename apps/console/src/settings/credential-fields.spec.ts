import { credentialBody } from './credential-fields.js';

function form(fields: Record<string, string>): FormData {
  const data = new FormData();
  for (const [name, value] of Object.entries(fields)) data.set(name, value);
  return data;
}

describe('credentialBody', () => {
  it('has the fields of its kind, lists as lists, and a secret as it was typed', () => {
    const fields = {
      name: ' crm ',
      hosts: 'a.example.com, b.example.com,',
      username: 'ann',
      password: ' p ',
      token: 't',
    };
    expect(credentialBody('basic', form(fields))).toEqual({
      kind: 'basic',
      name: 'crm',
      hosts: ['a.example.com', 'b.example.com'],
      username: 'ann',
      password: ' p ',
    });
  });

  it('leaves out what was not typed', () => {
    expect(credentialBody('api-key', form({ name: 'k', value: 'v', in: 'header', parameter: '', hosts: ' ' }))).toEqual(
      {
        kind: 'api-key',
        name: 'k',
        value: 'v',
        in: 'header',
      },
    );
  });
});
