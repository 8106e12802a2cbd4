import { anchorOf, helpPageFor, helpTarget } from './help-links.js';

describe('help links', () => {
  it('lead from a view to its page, and from any other place to the contents', () => {
    expect(helpPageFor('/settings/models/careful')).toBe('MODELS');
    expect(helpPageFor('/settings/mcp-servers/docs')).toBe('MCP-SERVERS');
    expect(helpPageFor('/workflows')).toBe('start/workflows');
    expect(helpPageFor('/workflows/edit/a')).toBe('WORKFLOWS');
    expect(helpPageFor('/runs/1/nodes/a')).toBe('CONSOLE#runs');
    expect(helpPageFor('/runsheet')).toBe('README');
  });

  it('lead to pages, anchors and addresses, and nowhere for files that the console lacks', () => {
    const isPage = (name: string): boolean => ['MODELS', 'start/agents'].includes(name);
    expect(helpTarget('MODELS.md#prices', 'USAGE', isPage)).toEqual({ kind: 'page', name: 'MODELS', hash: '#prices' });
    expect(helpTarget('../MODELS.md', 'start/agents', isPage)).toEqual({ kind: 'page', name: 'MODELS', hash: '' });
    expect(helpTarget('agents.md', 'start/workflows', isPage)).toMatchObject({ name: 'start/agents' });
    expect(helpTarget('#here', 'MODELS', isPage)).toEqual({ kind: 'anchor', hash: '#here' });
    expect(helpTarget('https://ai-sdk.dev', 'MODELS', isPage)).toEqual({ kind: 'address', url: 'https://ai-sdk.dev' });
    for (const href of ['../deploy/nginx.conf', 'adr/0001.md', '../../../etc/passwd', 'javascript:alert(1)'])
      expect(helpTarget(href, 'MODELS', isPage)).toEqual({ kind: 'file' });
  });

  it('have the anchors of GitHub', () => {
    expect(anchorOf('What a model was sent')).toBe('what-a-model-was-sent');
    expect(anchorOf('`parley init`: a folder, twice')).toBe('parley-init-a-folder-twice');
  });
});
