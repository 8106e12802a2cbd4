import { ConfigError, loadConfig } from './load-config.js';

describe('ALLOWED_HOSTS', () => {
  it('is a list of hosts, in lower case', () => {
    const ALLOWED_HOSTS = 'Parley.example.com, parley:3000,*.apps.example.com:443,192.0.2.7,[2001:DB8::1]:3000, ,*';
    expect(loadConfig({ ALLOWED_HOSTS }).allowedHosts).toEqual([
      'parley.example.com',
      'parley:3000',
      '*.apps.example.com:443',
      '192.0.2.7',
      '[2001:db8::1]:3000',
      '*',
    ]);
    expect(loadConfig({}).allowedHosts).toEqual([]);
  });

  it.each([
    'https://secret.example',
    'secret/path',
    'user@secret',
    'a..*',
    '*secret',
    '2001:db8::1',
    'secret:port',
    '*.*',
  ])('refuses %s without repeating it', (ALLOWED_HOSTS) => {
    const refused = (): unknown => loadConfig({ ALLOWED_HOSTS });
    expect(refused).toThrow(ConfigError);
    expect(refused).toThrow(/^Bad configuration:\nALLOWED_HOSTS: must be a comma-separated list of hosts [^\n]*$/);
    expect(refused).not.toThrow(/secret/);
  });
});
