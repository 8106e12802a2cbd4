import { z } from 'zod';

/**
 * An entry of ALLOWED_HOSTS: a name or an address, with a port or for any; `*.example.com` for every name below one;
 * `*` for all hosts. IPv6 addresses stand in brackets.
 */
const ENTRY = /^(\*|(\*\.)?[a-z0-9_]([a-z0-9_.-]{0,251}[a-z0-9_])?(:\d{1,5})?|\[[0-9a-f:.]{2,45}\](:\d{1,5})?)$/i;

const allowedHosts = z
  .string()
  .transform((text) =>
    text
      .split(',')
      .map((entry) => entry.trim().toLowerCase())
      .filter((entry) => entry !== ''),
  )
  .refine(
    (entries) => entries.every((entry) => ENTRY.test(entry)),
    'must be a comma-separated list of hosts such as parley.example.com, parley.internal:3000, *.example.com, or *',
  );

/** The variable that names the hosts of requests beside those that are served anyway. */
export const HOST_VARIABLES = { ALLOWED_HOSTS: allowedHosts.default([]) };
