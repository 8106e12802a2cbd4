import { loadConfig } from '#libs/service';
import { startLines } from './start-lines.js';

const AT = { url: 'http://127.0.0.1:3000', grpcPort: undefined, hasConsole: true };

describe('startLines', () => {
  it('names the console where it was built', () => {
    const lines = (hasConsole: boolean) => startLines(loadConfig({ HOST: '127.0.0.1' }), { ...AT, hasConsole });
    expect(lines(true)[0]).toBe('  console   http://127.0.0.1:3000/');
    expect(lines(false)[0]).toBe('  API       http://127.0.0.1:3000/docs');
  });

  it('lists the loaded plugins, and what is wrong', () => {
    const state = { plugins: ['node translate', 'tool lookup'], remarks: ['No key decrypts 1 of the credentials'] };
    const lines = startLines(loadConfig({ HOST: '127.0.0.1' }), { ...AT, ...state });
    expect(lines).toContain('  plugins   node translate, tool lookup');
    expect(lines.at(-1)).toBe('  warning   No key decrypts 1 of the credentials');
    expect(startLines(loadConfig({ HOST: '127.0.0.1' }), AT).join()).not.toMatch(/plugins|warning/);
  });

  it('tells the URL of the agents with the slash below which clients find its card', () => {
    const lines = startLines(loadConfig({ HOST: '127.0.0.1' }), AT);
    const [, url] = /agents +(\S+)/.exec(lines.join('\n')) ?? [];
    expect(new URL('.well-known/agent-card.json', url).href).toBe(
      'http://127.0.0.1:3000/a2a/.well-known/agent-card.json',
    );
  });
});
