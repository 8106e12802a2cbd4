import { z } from 'zod';

/** Environment variable that selects how replicas notify each other of changes. */
export const SIGNALS_VARIABLES = {
  SIGNALS_URL: z
    .string()
    .refine((text) => text.split(',').every((entry) => isNatsUrl(entry.trim())), {
      message:
        'must be a nats:// or tls:// URL such as nats://user:password@host:4222; several are separated by commas',
      abort: true,
    })
    .refine(nameOneCaller, 'must have the same user and password, or token, in each of its URLs')
    .optional(),
};

function isNatsUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  const plain = url.search === '' && url.hash === '' && ['', '/'].includes(url.pathname);
  return ['nats:', 'tls:'].includes(url.protocol) && url.hostname !== '' && plain && isEncoded(url);
}

function isEncoded({ username, password }: URL): boolean {
  try {
    decodeURIComponent(username);
    decodeURIComponent(password);
    return true;
  } catch {
    return false;
  }
}

function nameOneCaller(text: string): boolean {
  const callers = text.split(',').map((entry) => {
    const { username, password } = new URL(entry.trim());
    return `${username}:${password}`;
  });
  return new Set(callers).size === 1;
}
