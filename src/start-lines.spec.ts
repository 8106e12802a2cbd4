import { loadConfig } from '#libs/service';
import { startLines } from './start-lines.js';

describe('startLines', () => {
  it('tells the URL of the agents with the slash below which clients find its card', () => {
    const lines = startLines(loadConfig({ HOST: '127.0.0.1' }), 'http://127.0.0.1:3000', undefined);
    const [, url] = /agents +(\S+)/.exec(lines.join('\n')) ?? [];
    expect(new URL('.well-known/agent-card.json', url).href).toBe(
      'http://127.0.0.1:3000/a2a/.well-known/agent-card.json',
    );
  });
});
