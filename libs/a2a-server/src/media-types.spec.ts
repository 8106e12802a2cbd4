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
    { data: {}, mediaType: 'application/json' },
    { raw: '', mediaType: 'image/png' },
    { url: 'http://a', mediaType: 'image/*' },
  ])('accepts %j', (part) => {
    expect(() => check(part)).not.toThrow();
  });

  it.each<Part>([
    { raw: '', mediaType: 'application/pdf' },
    { raw: '', mediaType: 'text/html' },
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

  it('needs one output mode in common', () => {
    expect(() => check({ text: 'a' }, [])).not.toThrow();
    expect(() => check({ text: 'a' }, ['*/*'])).not.toThrow();
    expect(() => check({ text: 'a' }, ['image/png', 'application/*'])).not.toThrow();
    expect(() => check({ text: 'a' }, ['image/png'])).toThrow(expect.objectContaining({ code: -32005 }));
  });
});
