const [major] = process.versions.node.split('.');

/**
 * Whether Node's server reads the body of a request that becomes a tunnel. Node 24 takes it for the first bytes of the
 * tunnel, whatever its framing.
 */
export const READS_UPGRADE_BODIES = Number(major) >= 26;
