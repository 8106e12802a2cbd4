import { z } from 'zod';

/**
 * Entry of ALLOWED_HOSTS.
 * - A name or an address, with a port or for all ports; IPv6 addresses are in brackets.
 * - `*.example.com` matches every subdomain.
 * - `*` matches all hosts.
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

/** Environment variable that lists additional served hosts. */
export const HOST_VARIABLES = { ALLOWED_HOSTS: allowedHosts.default([]) };
