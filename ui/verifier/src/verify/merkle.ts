/** RFC 6962 Merkle trees over SHA-256, with the checks of RFC 9162 sections 2.1.3.2 and 2.1.4.2. */
import { same } from "./read/bytes.ts";
import { sha256 } from "./read/digest.ts";

const LEAF = Uint8Array.of(0);
const NODE = Uint8Array.of(1);

/** No path in a tree of at most 2^64−1 leaves is longer. */
export const PROOF_LEN_MAX = 65;

export function leafHash(bytes: Uint8Array): Uint8Array {
  return sha256(LEAF, bytes);
}

export function nodeHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  return sha256(NODE, left, right);
}

/** The right edge of a growing tree: the roots of its complete subtrees, largest first. */
export class Frontier {
  private size = 0;
  private readonly peaks: Uint8Array[] = [];

  push(leaf: Uint8Array): void {
    let node = leaf;
    // Each trailing one-bit of the old size is a complete subtree that now gets its right sibling.
    for (let rest = this.size; rest % 2 === 1; rest = (rest - 1) / 2) {
      const left = this.peaks.pop();
      if (left) node = nodeHash(left, node);
    }
    this.peaks.push(node);
    this.size += 1;
  }

  /** The root; of the empty tree SHA-256 of nothing. */
  root(): Uint8Array {
    const peaks = [...this.peaks];
    let root = peaks.pop();
    for (let left = peaks.pop(); root && left; left = peaks.pop()) root = nodeHash(left, root);
    return root ?? sha256();
  }
}

/** Why the leaf does not stand at `index` of the tree of `size` leaves with this root, or nothing if it does. */
export function inclusionFault(
  leaf: Uint8Array,
  index: bigint,
  size: bigint,
  proof: readonly Uint8Array[],
  root: Uint8Array,
): string | undefined {
  if (index >= size) return "the index lies outside the tree";
  const walk = new Walk(index, size - 1n);
  let hash = leaf;
  for (const sibling of proof) {
    const side = walk.step();
    if (side === undefined) return "it is too long";
    hash = side === "left" ? nodeHash(sibling, hash) : nodeHash(hash, sibling);
  }
  if (!walk.ended) return "it is too short";
  return same(hash, root) ? undefined : "it leads to another root";
}

/** Why the tree of `oldSize` leaves is not the beginning of the tree of `newSize` leaves, or nothing if it is. */
export function consistencyFault(
  oldSize: bigint,
  newSize: bigint,
  oldRoot: Uint8Array,
  newRoot: Uint8Array,
  proof: readonly Uint8Array[],
): string | undefined {
  if (oldSize > newSize) return "the tree has shrunk";
  if (oldSize === 0n && !same(oldRoot, sha256())) return "an empty tree has another root";
  if (oldSize === newSize || oldSize === 0n) {
    if (proof.length > 0) return "it is too long";
    return oldSize === newSize && !same(oldRoot, newRoot) ? "trees of one size have two roots" : undefined;
  }
  // A complete old tree is its own first node, and the proof leaves it out.
  const complete = (oldSize & (oldSize - 1n)) === 0n;
  const [first, ...path] = complete ? [oldRoot, ...proof] : proof;
  if (!first) return "it is too short";
  return climb(oldSize, newSize, oldRoot, newRoot, first, path);
}

function climb(
  oldSize: bigint,
  newSize: bigint,
  oldRoot: Uint8Array,
  newRoot: Uint8Array,
  first: Uint8Array,
  path: readonly Uint8Array[],
): string | undefined {
  let [index, last] = [oldSize - 1n, newSize - 1n];
  while (index & 1n) [index, last] = [index >> 1n, last >> 1n];
  const walk = new Walk(index, last);
  let [older, newer] = [first, first];
  for (const sibling of path) {
    const side = walk.step();
    if (side === undefined) return "it is too long";
    if (side === "left") older = nodeHash(sibling, older);
    newer = side === "left" ? nodeHash(sibling, newer) : nodeHash(newer, sibling);
  }
  if (!walk.ended) return "it is too short";
  if (!same(older, oldRoot)) return "it leads to another old root";
  return same(newer, newRoot) ? undefined : "it leads to another new root";
}

/** The way from a leaf to the root: on which side the next sibling lies. */
class Walk {
  constructor(
    private index: bigint,
    private last: bigint,
  ) {}

  get ended(): boolean {
    return this.last === 0n;
  }

  step(): "left" | "right" | undefined {
    if (this.ended) return undefined;
    const left = (this.index & 1n) === 1n || this.index === this.last;
    // On the right edge the levels without a sibling are skipped.
    while (left && (this.index & 1n) === 0n && this.index !== 0n) this.up();
    this.up();
    return left ? "left" : "right";
  }

  private up(): void {
    this.index >>= 1n;
    this.last >>= 1n;
  }
}
