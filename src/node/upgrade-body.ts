const [major] = process.versions.node.split('.');

/** True if Node's server reads the body of a request that becomes a tunnel. Node 24 treats it as data of the tunnel. */
export const READS_UPGRADE_BODIES = Number(major) >= 26;
