/** A transaction of one's own with an OP_RETURN output, and the proof that it stands in a block. */
import { concat, same, utf8 } from "../read/bytes.ts";
import { parseCanonical } from "../read/canon.ts";
import { object, string, u64 } from "../read/shape.ts";
import { Malformed } from "../read/stop.ts";
import { HEADER_BYTES, parseMerkleBlock, parseTransaction, spelled } from "./bitcoin.ts";
import { BLOCK_TIME } from "./ots.ts";
import { atTime, type Clocks, type Stamp } from "./stamp.ts";

const PREFIX = utf8("HERMIT1");
const OP_RETURN = 0x6a;
/** A transaction, or a proof of its place, is at most this long. */
const PART_BYTES_MAX = 512 * 1024;

const shape = object({ header: string, height: u64, raw_tx: string, tx_out_proof: string }, "closed");

function bad(why: string): Malformed {
  return new Malformed("OP_RETURN proof", why);
}

function bytesOf(text: string): Uint8Array {
  if (text.length % 2 !== 0 || text.length > 2 * PART_BYTES_MAX || !/^[0-9a-f]*$/.test(text)) throw bad("a part of it is not lower-case hex, or too long");
  return Uint8Array.from({ length: text.length / 2 }, (_, at) => Number.parseInt(text.slice(2 * at, 2 * at + 2), 16));
}

/** The script of the output that carries a digest. */
export function scriptOf(digest: Uint8Array): Uint8Array {
  return concat(Uint8Array.of(OP_RETURN, PREFIX.length + digest.length), PREFIX, digest);
}

/** Checks a proof against the digest and the headers that the reader gave. */
export function checkOpReturn(proof: Uint8Array, digest: Uint8Array, { headers }: Clocks): Stamp {
  const read = shape(parseCanonical(proof));
  const [header, raw, place] = [bytesOf(read.header), bytesOf(read.raw_tx), bytesOf(read.tx_out_proof)];
  const transaction = parseTransaction(raw);
  const script = scriptOf(digest);
  if (!transaction.scripts.some((one) => same(one, script))) throw bad("its transaction does not carry this digest");
  const block = parseMerkleBlock(place);
  if (header.length !== HEADER_BYTES || !same(block.header.bytes, header)) throw bad("its header is not the one that the place of the transaction is proven in");
  if (!block.ids.some((id) => same(id, transaction.id))) throw bad("its transaction is not the one whose place is proven");
  const where = `transaction ${spelled(transaction.id)} in block ${spelled(block.header.hash)} at height ${read.height} carries it`;
  const open = (why: string): Stamp => ({ isPending: false, says: [where, why], onTrust: [] });
  if (!headers) return open("whether that block is one of Bitcoin's chain was not checked: give headers of Bitcoin to have more");
  const found = headers.withHash(block.header.hash);
  if (!found && headers.at(read.height)) throw bad(`the headers you gave have another block at height ${read.height}`);
  if (!found) return open("that block is not among the headers you gave");
  if (found.height !== undefined && found.height !== read.height) throw bad(`it names height ${read.height}, and its block stands at height ${found.height}`);
  const time = block.header.time * 1000;
  const says = [where, `the block's header states ${atTime(time)}; ${found.onTop} of the headers you gave lie on top of it`];
  return { proven: { notAfter: time, height: read.height }, isPending: false, says, onTrust: [headers.onTrust, BLOCK_TIME] };
}
