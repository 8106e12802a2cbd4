const isRoot = process.platform === 'linux' && process.getuid?.() === 0;

/** Tests that act as other users of the machine: only root may become them. Elsewhere they are reported as skipped. */
export const describeAsRootOnLinux: typeof describe = isRoot ? describe : describe['skip'];
