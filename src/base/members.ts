/** What can be a member; of one at a time. */
export interface Member {
  /** Its place, or -1; only `Members` writes it. */
  memberAt: number;
}

/**
 * A set of what comes and goes with each request or connection.
 *
 * Not a Set: V8 makes that a new table every so many additions, and an old table leads to the new one. One that has
 * grown old enough to be out of the young generation's reach holds, dead as it is, all that came after it. A third of
 * what should have been garbage survived so, and cost 15 µs a request.
 */
export class Members<T extends Member> {
  readonly #all: T[] = [];

  get size(): number {
    return this.#all.length;
  }

  add(member: T): void {
    member.memberAt = this.#all.length;
    this.#all.push(member);
  }

  /** False where it is none. */
  delete(member: T): boolean {
    const at = member.memberAt;
    if (at === -1) return false;
    member.memberAt = -1;
    const last = this.#all.pop()!;
    if (last !== member) {
      this.#all[at] = last;
      last.memberAt = at;
    }
    return true;
  }

  /** Members may leave meanwhile: from the end, where one that leaves is replaced by one that has had its turn. */
  *[Symbol.iterator](): Generator<T> {
    for (let i = this.#all.length - 1; i >= 0; i--) {
      const member = this.#all[i];
      if (member !== undefined) yield member;
    }
  }
}
