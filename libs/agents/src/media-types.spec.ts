import type { Part } from '#libs/protocol';
import { checkMediaTypes } from './media-types.js';

const AGENT = { inputModes: ['text/plain', 'image/*'], outputModes: ['text/plain', 'application/json'] };

function check(part: Part, acceptedOutputModes?: string[]): void {
  checkMediaTypes(AGENT, {
    message: { messageId: 'm', role: 'ROLE_USER', parts: [part] },
    configuration: { acceptedOutputModes },
  });
}

describe('checkMediaTypes', () => {
  it.each<Part>([
    { text: 'a' },
    { text: 'a', mediaType: 'text/plain; charset=utf-8' },
    { text: 'a', mediaType: 'TEXT/Markdown' },
    { raw: '', mediaType: 'image/png' },
    { url: 'http://a', mediaType: 'image/*' },
  ])('accepts %j', (part) => {
    expect(() => check(part)).not.toThrow();
  });

  it.each<Part>([
    { raw: '', mediaType: 'application/pdf' },
    { raw: '', mediaType: 'text/html' },
    { raw: '' },
    { url: 'http://a' },
    { data: {} },
    { data: {}, mediaType: 'application/json' },
    { data: {}, mediaType: 'application/xml' },
    { text: 'a', mediaType: 'nonsense' },
  ])('refuses %j and names the part', (part) => {
    expect(() => check(part)).toThrow(
      expect.objectContaining({
        code: -32005,
        violations: [expect.objectContaining({ field: 'message.parts[0].mediaType' })],
      }),
    );
  });

  it.each<[Part, string[]]>([
    [{ data: null }, ['application/json']],
    [{ raw: '' }, ['application/octet-stream']],
    [{ url: 'http://a' }, ['*/*']],
    [{ text: 'a', mediaType: 'text/markdown' }, ['text/html']],
    [{ raw: '' }, []],
  ])('takes %j as what it is where the agent reads %j', (part, inputModes) => {
    const request = { message: { messageId: 'm', role: 'ROLE_USER' as const, parts: [part] } };
    expect(() => checkMediaTypes({ inputModes, outputModes: [] }, request)).not.toThrow();
  });

  it('lets no text pass an agent that reads none', () => {
    const request = { message: { messageId: 'm', role: 'ROLE_USER' as const, parts: [{ text: 'a' }] } };
    expect(() => checkMediaTypes({ inputModes: ['image/png'], outputModes: [] }, request)).toThrow(
      'mediaType must be one of',
    );
  });

  it('needs one output mode in common', () => {
    expect(() => check({ text: 'a' }, [])).not.toThrow();
    expect(() => check({ text: 'a' }, ['*/*'])).not.toThrow();
    expect(() => check({ text: 'a' }, ['image/png', 'application/*'])).not.toThrow();
    expect(() => check({ text: 'a' }, ['image/png'])).toThrow(expect.objectContaining({ code: -32005 }));
  });
});
