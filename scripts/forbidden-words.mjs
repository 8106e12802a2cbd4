import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './prepare.mjs';

/**
 * Forbidden words, each with its replacement: readers who know A2A, Nest and PostgreSQL would not understand them. A
 * phrase is found in any spelling: `hop chain` in `HOP_CHAIN`, `hopChain`, `hop-chain`. With `in: 'names'` the word is
 * plain English in a sentence, and forbidden only as a part of a name.
 */
export const FORBIDDEN_WORDS = [
  { phrase: 'door', instead: 'auth guard, or outbound client' },
  { phrase: 'founding', instead: 'pre-1.0 dialect' },
  { phrase: 'heir', instead: 'successor replica' },
  { phrase: 'verdict', instead: 'the answer of a CredentialCache; the convergence of a brainstorm' },
  { phrase: 'own agents', in: 'names', instead: 'BuiltInAgents' },
  { phrase: 'callee', instead: 'remote agent, or called agent' },
  { phrase: 'credential proof', instead: 'RequestSigners and what they give, RequestAuth' },
  { phrase: 'call proof', instead: 'RequestAuth' },
  { phrase: 'hop', instead: 'a link of the call chain' },
  { phrase: 'batched read', instead: 'BatchLoader' },
  { phrase: 'published workflow', instead: 'WorkflowAgents' },
  { phrase: 'call limits', in: 'names', instead: 'CallerLimits, CallDeadlines or OutboundDeadlines' },
  { phrase: 'bell', instead: 'WakeSignal' },
  { phrase: 'cseq', instead: 'conversationSequence' },
  { phrase: 'told', in: 'names', instead: 'emitted, reported' },
  { phrase: 'tell', in: 'names', instead: 'emit, report' },
  { phrase: 'hear', in: 'names', instead: 'follow, receive' },
  { phrase: 'heard', in: 'names', instead: 'followed, received' },
  { phrase: 'obey', instead: 'apply' },
  { phrase: 'carry out', in: 'names', instead: 'apply' },
  { phrase: 'rests', in: 'names', instead: 'awaitsInput' },
  { phrase: 'last words', in: 'names', instead: 'the final text, the last status' },
  { phrase: 'lodging', instead: 'placement' },
  { phrase: 'misfit', instead: 'mismatch' },
  { phrase: 'answer room', in: 'names', instead: 'ResponseBudget' },
];

/** Pattern of the sources of the console's views, without their specs. */
const CONSOLE = /\bapps\/console\/src\/(?!.*\.spec\.ts$)/;

/**
 * Patterns that are forbidden in any text: references to tables that the reader does not have, and other people's
 * packages.
 */
export const FORBIDDEN_PATTERNS = [
  {
    pattern: /\b(?:[Rr]ows? [A-Z]|[Ff]indings? #?)\d+\b/,
    what: 'a number that only its author can look up',
    instead: 'the rule itself',
  },
  {
    pattern: /\bnpx (?:-\S+ )*parley(?!-a2a)\b/,
    what: 'a package of somebody else',
    instead: 'npx --no parley-a2a',
  },
  ...unpublishedPackages(),
  ...[
    [/\b(?:Took|Taken|taken) over\b/, 'Reused'],
    [/\bAsk again\b/, 'Refresh'],
    [/\bMade of an\b/, 'Rerun of'],
    [/\bIts answer\b/, 'Output'],
    [/\bWhat it must give\b/, 'Output schema'],
    [/\bA name stays\b/, 'The name cannot change'],
    [/\btitle: 'Do'/, 'Actions'],
    [/\bLast word\b/, 'Last message'],
    [/\bTakes beside text\b/, 'Also accepts'],
    [/\bdestroys\b/, 'destructive'],
  ].map(([pattern, instead]) => ({ pattern, what: 'no label of the console', instead, files: CONSOLE })),
];

/**
 * Returns the pattern of commands that install our packages from the registry. Until these are published, somebody else
 * may register their names.
 */
function unpublishedPackages() {
  const { published } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  if (published) return [];
  return [
    {
      pattern:
        /\bnpx (?!--no )(?:-\S+ )*parley-a2a\b|\bnpm (?:i|install|add|exec)\b(?:(?!\.tgz).)*\bparley-a2a(?![\w.*[\]-]*\.tgz)/,
      what: 'a package that is not published',
      instead: 'npx --no parley-a2a, or the file that npm run package writes',
    },
  ];
}

/**
 * Exceptions: forbidden words that were part of the wire format or the database before they were forbidden, where they
 * name that.
 */
export const EXCEPTIONS = [
  {
    text: 'npm install parley-a2a && npm audit signatures && npx parley-a2a doctor',
    in: /^docs\/RELEASING\.md$/,
    why: 'the check after a release',
  },
  { text: 'callee_card', why: 'the names of two tables, in statements' },
  { text: /CreateCalleeCard\d+/, why: 'the name of a migration, kept in the database' },
  { text: 'callees.purge', why: 'the name of a job, kept in the queue' },
  {
    text: 'urn:parley:extension:hop-chain:v1',
    why: 'the URI of an extension, in cards and in the metadata of Messages',
  },
  { text: "'hop-chain'", why: 'the name of a secret, kept in the database' },
  {
    text: /\bcallee\b/,
    in: /\/call-chain\b|\/0010-call-chain\.md$|^docs\/EXTENSIONS\.md$/,
    why: 'a member of a signed link of the call chain',
  },
  { text: /\bcallee\b/, in: /\/agent-call-spec\.ts$/, why: 'the same, where a link is made' },
  { text: /\bcallee\b/, in: /\.spec\.ts$/, why: 'the same, as a test expects it' },
  { text: /`callee`/, in: /\/EXTENSIONS\.md$/, why: 'the same, where a link is described' },
  { text: /\bcallee-\w+\.e2e-spec\.ts\b/, in: /^docs\//, why: 'the names of outside tests' },
  { text: /\bcseq\b/, in: /^libs\/conversations\/|^docs\//, why: 'a member of the events of a conversation' },
  { text: /\bverdict\b/, in: /^libs\/brainstorm\//, why: 'a member of the event `iteration.completed`, in the log' },
  { text: /(['"`])founding\1/, why: 'a value of `protocol` in the config of an external node' },
  { text: /\bfounding(?=:)/, in: /\/node-fields\.ts$/, why: 'the same, as a choice of the console' },
  { text: /\bfailureTold\b/, in: /\/golden-log\.ts$/, why: 'a member of recorded logs' },
  { text: /task-(log|snapshot)-told/, why: 'the names of prepared statements' },
  { text: /\b(trustedHops|hops)\b/, in: /\/service-address\.ts$/, why: 'proxies on the way, as HTTP calls them' },
];
