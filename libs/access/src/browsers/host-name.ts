/** Host in a request, a URL or the configuration. */
export interface HostName {
  /** Name in lower case, without brackets and without a trailing dot. */
  name: string;
  /** Port; `''` if there is none. */
  port: string;
}

/** Parses `name`, `name:port`, `192.0.2.1:port` or `[2001:db8::1]:port`; returns `undefined` for other text. */
export function readHost(text: string): HostName | undefined {
  const [, plain, address, port = ''] = HOST.exec(text) ?? [];
  const name = (plain?.replace(/\.$/, '') ?? address ?? '').toLowerCase();
  return name === '' || name.endsWith('.') ? undefined : { name, port };
}

const HOST = /^(?:([a-z0-9._-]{1,253})|\[([0-9a-f:.]{2,45})\])(?::(\d{1,5}))?$/i;
