/** A host as a request, a URL or the configuration names it. */
export interface HostName {
  /** In lower case, without brackets and without the dot that a full name may end with. */
  name: string;
  /** `''` where none is said. */
  port: string;
}

/** Reads `name`, `name:port`, `192.0.2.1:port` or `[2001:db8::1]:port`; `undefined` where it is no host. */
export function readHost(text: string): HostName | undefined {
  const [, plain, address, port = ''] = HOST.exec(text) ?? [];
  const name = (plain?.replace(/\.$/, '') ?? address ?? '').toLowerCase();
  return name === '' || name.endsWith('.') ? undefined : { name, port };
}

const HOST = /^(?:([a-z0-9._-]{1,253})|\[([0-9a-f:.]{2,45})\])(?::(\d{1,5}))?$/i;
