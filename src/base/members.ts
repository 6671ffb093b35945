/** May be in one `Members` at a time. */
export interface Member {
  /** The index in `Members`, or -1. Only `Members` writes it. */
  memberAt: number;
}

/**
 * A set for objects that come and go with each request or connection.
 *
 * Not a `Set`: after a number of additions V8 replaces its table, and the old table refers to the new one. A table that
 * has moved to the old generation keeps all later tables, and what is in them, from being collected with the young
 * generation, even when it is garbage itself. A third of the garbage survived like this; it cost 15 µs a request.
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

  /** @returns false if it is not in the set */
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

  /** Members may leave meanwhile: it goes from the end, so the member that takes a free place was visited already. */
  *[Symbol.iterator](): Generator<T> {
    for (let i = this.#all.length - 1; i >= 0; i--) {
      const member = this.#all[i];
      if (member !== undefined) yield member;
    }
  }
}
