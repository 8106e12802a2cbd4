/** A test that looks into what only Linux shows (`/proc`); elsewhere it is reported as skipped. */
export const onLinux: typeof it = process.platform === 'linux' ? it : it['skip'];

/** A group of such tests. */
export const describeOnLinux: typeof describe = process.platform === 'linux' ? describe : describe['skip'];
