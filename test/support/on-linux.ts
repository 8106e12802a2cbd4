/** Declares a test that reads what only Linux provides (`/proc`). Elsewhere it is reported as skipped. */
export const onLinux: typeof it = process.platform === 'linux' ? it : it['skip'];

/** Describes tests that need Linux. Elsewhere they are reported as skipped. */
export const describeOnLinux: typeof describe = process.platform === 'linux' ? describe : describe['skip'];
