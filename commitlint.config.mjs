/** Rules for the subjects of commits; `npm run check -- commits` applies them. */
const TYPES = ['bench', 'build', 'chore', 'ci', 'docs', 'feat', 'fix', 'perf', 'refactor', 'revert', 'style', 'test'];

export default {
  extends: ['@commitlint/config-conventional'],
  rules: {
    'header-max-length': [2, 'always', 72],
    'type-enum': [2, 'always', TYPES],
    // A warning: a change of the whole repository may have none.
    'scope-empty': [1, 'never'],
    // Names of the protocol and of classes keep their spelling.
    'subject-case': [0],
    // oxfmt wraps no messages.
    'body-max-line-length': [0],
    'footer-max-line-length': [0],
  },
};
