const isRoot = process.platform === 'linux' && process.getuid?.() === 0;

/**
 * Describes tests that act as other users of the machine, which only root on Linux can do. Elsewhere they are reported
 * as skipped.
 */
export const describeAsRootOnLinux: typeof describe = isRoot ? describe : describe['skip'];
