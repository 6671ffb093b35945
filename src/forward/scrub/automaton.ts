/** The state before any byte of a word. A state is the index of its row in the table. */
export const ROOT = 0;

/** The tree (trie) of all words, as arrays by node; node 0 is the root. */
interface Tree {
  readonly nodes: number;
  readonly firstChild: Int32Array;
  readonly sibling: Int32Array;
  readonly column: Uint8Array;
  readonly depth: Int32Array;
  /** The length of the longest word that ends at the node, or 0. */
  readonly longest: Int32Array;
}

/**
 * Searches for many words at once (Aho and Corasick), with a complete table: one step for each byte, whatever the text and
 * the words are, so that the time of a search tells nothing about the words. A row holds a state's next states; a next state
 * in which a word ends is stored as its complement, which is negative.
 */
export class Automaton {
  readonly table: Int32Array;
  /** The column of each byte in the table; 0 for bytes that no word holds. */
  readonly columns = new Uint8Array(256);
  /** The length of the longest word; 0 if there is none. */
  readonly longestWord: number;
  readonly #words: readonly Buffer[];
  readonly #width: number;
  readonly #tree: Tree;
  readonly #fail: Int32Array;
  /** Nodes form a tree by their failure links: the place of each in its preorder, and how many are below it. */
  readonly #rank: Int32Array;
  readonly #below: Int32Array;
  /** For other automata: the states here, by their nodes. */
  readonly #statesFor = new WeakMap<Automaton, Int32Array>();

  /** @param words each character is a byte; empty ones don't count */
  constructor(words: readonly string[]) {
    const bytes = [...new Set(words)]
      .filter((word) => word !== '')
      .map((word) => Buffer.from(word, 'latin1'));
    this.#words = bytes;
    let width = 1;
    for (const word of bytes) for (const byte of word) this.columns[byte] ||= width++;
    this.#width = width;
    this.longestWord = bytes.reduce((longest, { length }) => Math.max(longest, length), 0);
    this.#tree = treeOf(bytes, this.columns);
    this.table = new Int32Array(this.#tree.nodes * width);
    this.#fail = new Int32Array(this.#tree.nodes);
    this.#rank = new Int32Array(this.#tree.nodes);
    this.#below = new Int32Array(this.#tree.nodes);
    this.#rankBy(this.#link());
  }

  /** True if a word holds the byte. */
  holds(byte: number): boolean {
    return this.columns[byte] !== 0;
  }

  /** How many of the last bytes are the beginning of a word. */
  depth(state: number): number {
    return this.#tree.depth[state / this.#width]!;
  }

  /** The length of the longest word that ends in the state, or 0. */
  longestEnd(state: number): number {
    return this.#tree.longest[state / this.#width]!;
  }

  step(state: number, byte: number): number {
    const next = this.table[state + this.columns[byte]!]!;
    return next < 0 ? ~next : next;
  }

  /** The state that stands for the same beginning of a word as a state of another automaton. */
  stateFor(other: Automaton, state: number): number {
    return other === this ? state : this.#statesOf(other)[state / other.#width]!;
  }

  /** Made at once for all states, so that the time tells nothing about the one that is asked for. */
  #statesOf(other: Automaton): Int32Array {
    const known = this.#statesFor.get(other);
    if (known !== undefined) return known;
    const states = new Int32Array(other.#tree.nodes);
    for (const word of other.#words) {
      let [theirs, ours] = [ROOT, ROOT];
      for (const byte of word) {
        theirs = other.step(theirs, byte);
        ours = this.step(ours, byte);
        states[theirs / other.#width] = ours;
      }
    }
    this.#statesFor.set(other, states);
    return states;
  }

  /** True if the beginning of a word that `outer` has read ends with the one that `inner` has read. */
  covers(outer: number, inner: number): boolean {
    const rank = this.#rank[outer / this.#width]! - this.#rank[inner / this.#width]!;
    return rank >= 0 && rank <= this.#below[inner / this.#width]!;
  }

  /** Fills the rows in order of depth: each is a copy of its failure link's row, with its own children. @returns that order */
  #link(): Int32Array {
    const { table } = this;
    const [width, fail] = [this.#width, this.#fail];
    const { nodes, firstChild, sibling, column, longest } = this.#tree;
    const queue = new Int32Array(nodes);
    let queued = 1;
    for (let at = 0; at < nodes; at++) {
      const node = queue[at]!;
      const row = node * width;
      if (node !== 0) table.copyWithin(row, fail[node]! * width, (fail[node]! + 1) * width);
      for (let child = firstChild[node]!; child !== 0; child = sibling[child]!) {
        const place = row + column[child]!;
        const before = table[place]!;
        fail[child] = node === 0 ? 0 : (before < 0 ? ~before : before) / width;
        longest[child] ||= longest[fail[child]!]!;
        table[place] = longest[child]! > 0 ? ~(child * width) : child * width;
        queue[queued++] = child;
      }
    }
    return queue;
  }

  #rankBy(order: Int32Array): void {
    const [fail, rank, below] = [this.#fail, this.#rank, this.#below];
    for (let at = order.length - 1; at > 0; at--) below[fail[order[at]!]!]! += below[order[at]!]! + 1;
    const next = new Int32Array(order.length).fill(1);
    for (let at = 1; at < order.length; at++) {
      const node = order[at]!;
      const above = fail[node]!;
      rank[node] = rank[above]! + next[above]!;
      next[above]! += below[node]! + 1;
    }
  }
}

function treeOf(words: readonly Buffer[], columns: Uint8Array): Tree {
  const most = words.reduce((sum, { length }) => sum + length, 1);
  const firstChild = new Int32Array(most);
  const sibling = new Int32Array(most);
  const column = new Uint8Array(most);
  const depth = new Int32Array(most);
  const longest = new Int32Array(most);
  let nodes = 1;
  for (const word of words) {
    let node = 0;
    for (const byte of word) {
      let child = firstChild[node]!;
      while (child !== 0 && column[child] !== columns[byte]) child = sibling[child]!;
      if (child === 0) {
        child = nodes++;
        sibling[child] = firstChild[node]!;
        firstChild[node] = child;
        column[child] = columns[byte]!;
        depth[child] = depth[node]! + 1;
      }
      node = child;
    }
    longest[node] = word.length;
  }
  return { nodes, firstChild, sibling, column, depth, longest };
}
