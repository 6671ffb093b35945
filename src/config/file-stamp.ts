import { statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';

/** A text that changes with the file; undefined if there is no file. */
export type FileStamp = string | undefined;

/**
 * `f_type` (statfs(2)) of the file systems that keep a file on this machine: ext2 to ext4, XFS, Btrfs, ZFS, F2FS,
 * bcachefs, tmpfs, ramfs and overlayfs. Others may ask another machine, or a program.
 */
const LOCAL = new Set([
  0xef53, 0x58465342, 0x9123683e, 0x2fc12fc1, 0xf2f52010, 0xca451a4e, 0x01021994, 0x858458f6, 0x794c7630,
]);

export const fileStamps = {
  /** Whether taking a stamp is quick. */
  async isQuick(path: string): Promise<boolean> {
    try {
      return LOCAL.has((await statfs(path)).type);
    } catch {
      return false;
    }
  },

  /** Takes microseconds, and no thread. Call it only if it is quick: else the process waits for another machine. */
  of(path: string): FileStamp {
    try {
      const found = statSync(path, { bigint: true, throwIfNoEntry: false });
      return found && `${found.dev} ${found.ino} ${found.size} ${found.mtimeNs} ${found.ctimeNs}`;
    } catch {
      return undefined;
    }
  },
};

export type FileStamps = typeof fileStamps;
