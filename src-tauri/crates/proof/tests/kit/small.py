"""A small verifier of hermit-proof/1, by the description alone: the zip, the list, signatures, places, and the chain of events.

It says nothing of what people allowed, so it takes bundles that a whole verifier refuses; what it checks, it checks.
`small.py BUNDLE KEY [signature | inclusion | list | events | trust]` leaves one kind of check out. Exit code 0 valid, 1 not.
"""

import base64
import hashlib
import json
import re
import sys
import zipfile

P = 2**255 - 19
Q = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT = pow(2, (P - 1) // 4, P)


class Refused(Exception):
    """Something does not hold."""


def need(holds, why):
    if not holds:
        raise Refused(why)


def sha(data):
    return hashlib.sha256(data).digest()


def add(a, b):
    n = (a[1] - a[0]) * (b[1] - b[0]) % P
    m = (a[1] + a[0]) * (b[1] + b[0]) % P
    t = 2 * a[3] * b[3] * D % P
    z = 2 * a[2] * b[2] % P
    e, f, g, h = m - n, z - t, z + t, m + n
    return (e * f % P, g * h % P, f * g % P, e * h % P)


def times(number, point):
    total = (0, 1, 1, 0)
    while number:
        if number & 1:
            total = add(total, point)
        point = add(point, point)
        number >>= 1
    return total


def point(data):
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y & (2**255 - 1)
    need(y < P, "a point is none")
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * ROOT % P
    need((x * x - square) % P == 0, "a point is none")
    if x & 1 != sign:
        x = P - x
    return (x, y, 1, x * y % P)


BASE = point((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))


def same(a, b):
    return (a[0] * b[2] - b[0] * a[2]) % P == 0 and (a[1] * b[2] - b[1] * a[2]) % P == 0


class Verifier:
    def __init__(self, bundle, key, ignored):
        self.ignored = ignored
        with zipfile.ZipFile(bundle) as archive:
            self.files = {}
            for entry in archive.infolist():
                need(entry.compress_type == 0 and entry.filename not in self.files, "the zip")
                self.files[entry.filename] = archive.read(entry)
        with open(key, "rb") as file:
            self.trusted = pem(file.read())

    def signed(self, key, message, signature):
        """Ed25519 by hand."""
        if self.ignored == "signature":
            return
        need(len(signature) == 64, "a signature is cut")
        s = int.from_bytes(signature[32:], "little")
        need(s < Q, "a signature is none")
        hashed = hashlib.sha512(signature[:32] + key + message).digest()
        h = int.from_bytes(hashed, "little") % Q
        need(same(times(s, BASE), add(point(signature[:32]), times(h, point(key)))), "a signature does not hold")

    def key(self, purpose):
        return pem(self.file(f"keys/{purpose}.pub.pem"))

    def file(self, name):
        need(name in self.files, f"{name} is missing")
        return self.files[name]

    def check(self):
        need(self.file("README.txt").split()[:1] == [b"hermit-proof/1"], "another version")
        self.list()
        manifest = self.key("manifest")
        need(manifest == self.trusted or self.ignored == "trust", "a key that is not trusted")
        sums = self.file("SHA256SUMS")
        self.signed(manifest, sums, self.file("SHA256SUMS.ed25519"))
        self.ssh(manifest, sums)
        if "statement.dsse.json" in self.files:
            self.statement()
        for name in self.files:
            if name.startswith("receipts/"):
                self.envelope(self.file(name))

    def list(self):
        if self.ignored == "list":
            return
        lines = self.file("SHA256SUMS").decode().split("\n")
        need(lines.pop() == "", "the list is cut")
        names = []
        for line in lines:
            digest, _, name = line.partition("  ")
            need(re.fullmatch("[0-9a-f]{64}", digest) and name in self.files, f"the list: {name}")
            need(sha(self.files[name]).hex() == digest, f"{name} was changed")
            own = re.search("([0-9a-f]{64})(.json)?$", name)
            need(own is None or own[1] == digest, f"{name} has another name")
            names.append(name)
        need(names and names == sorted(set(names)), "the order of the list")
        need(set(names) == {name for name in self.files if not name.startswith("SHA256SUMS")}, "an added file")

    def ssh(self, key, message):
        text = self.file("SHA256SUMS.sshsig").decode().splitlines()
        blob = base64.b64decode("".join(text[1:-1]))
        parts, rest = [], blob[10:]
        while rest:
            size = int.from_bytes(rest[:4], "big")
            parts.append(rest[4 : 4 + size])
            rest = rest[4 + size :]
        space, reserved, hashed, signature = parts[1:5]
        digest = hashlib.new(hashed.decode(), message).digest()
        said = b"SSHSIG" + b"".join(len(p).to_bytes(4, "big") + p for p in (space, reserved, hashed, digest))
        self.signed(key, said, signature[-64:])

    def envelope(self, data):
        said = json.loads(data)
        payload, kind = base64.b64decode(said["payload"]), said["payloadType"].encode()
        message = b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)
        self.signed(self.key("receipt"), message, base64.b64decode(said["signatures"][0]["sig"]))
        return json.loads(payload)

    def note(self, data):
        """A signed head: its text, its size and its root."""
        text, _, lines = data.decode().rpartition("\n\n")
        text += "\n"
        origin, size, root = text.split("\n")[:3]
        own = [line for line in lines.splitlines() if line.startswith(f"\u2014 {origin} ")]
        need(len(own) == 1, "a head without its signature")
        self.signed(self.key("log"), text.encode(), base64.b64decode(own[0].split(" ")[2])[4:])
        return text.encode(), int(size), base64.b64decode(root)

    def place(self, name, leaf, head):
        """RFC 9162 2.1.3.2."""
        _, size, root = head
        if self.ignored == "inclusion":
            return
        lines = self.file(name).decode().partition("\n\n")[0].split("\n")
        need(lines[0] == "c2sp.org/tlog-proof@v1" and lines[1].startswith("index "), "a place")
        index, last, found = int(lines[1][6:]), size - 1, sha(b"\0" + leaf)
        need(index < size, "a place beyond the tree")
        for line in lines[2:]:
            need(last > 0, "a place with too many hashes")
            other = base64.b64decode(line)
            if index & 1 or index == last:
                found = sha(b"\1" + other + found)
                while not index & 1 and index:
                    index, last = index >> 1, last >> 1
            else:
                found = sha(b"\1" + found + other)
            index, last = index >> 1, last >> 1
        need(last == 0 and found == root, "a place is not proven")

    def statement(self):
        said = self.envelope(self.file("statement.dsse.json"))["predicate"]
        log, task = self.note(self.file("log/checkpoint")), self.note(self.file("task/checkpoint"))
        need((task[1], task[2].hex()) == (said["task_size"], said["task_root"]), "another head of the task")
        self.place("task/checkpoint.tlog-proof", task[0], log)
        if "gate/checkpoint" in self.files:
            gate = self.note(self.file("gate/checkpoint"))
            self.place("gate/checkpoint.tlog-proof", gate[0], log)
            self.entries(gate)
        if "task/events.jsonl" in self.files:
            self.events(task)
        for name in self.files:
            if name.startswith("task/events/"):
                number = int(name[12:-5])
                self.place(f"task/proofs.tlog-proof/{number}", self.files[name], task)

    def entries(self, gate):
        proofs = sorted(int(name[23:]) for name in self.files if name.startswith("gate/proofs.tlog-proof/"))
        lines = self.file("gate/entries.jsonl").split(b"\n")
        need(lines.pop() == b"" and len(lines) == len(proofs), "entries and their places")
        for number, line in zip(proofs, lines):
            self.place(f"gate/proofs.tlog-proof/{number}", line, gate)

    def events(self, task):
        lines = self.file("task/events.jsonl").split(b"\n")
        need(lines.pop() == b"", "events are cut")
        before = "0" * 64
        for number, line in enumerate(lines, 1):
            event = json.loads(line)
            linked = (event["task_seq"], event["prev_event_hash"]) == (number, before)
            need(linked or self.ignored == "events", f"event {number}")
            before = sha(line).hex()
        if self.ignored == "events":
            return
        need(len(lines) == task[1] and tree([sha(b"\0" + line) for line in lines]) == task[2], "the events' root")


def tree(leaves):
    if len(leaves) == 1:
        return leaves[0]
    half = 1
    while half * 2 < len(leaves):
        half *= 2
    return sha(b"\1" + tree(leaves[:half]) + tree(leaves[half:]))


def pem(data):
    text = data.decode().split("\n")
    need(text[0] == "-----BEGIN PUBLIC KEY-----", "a key")
    return base64.b64decode("".join(text[1:-2]))[-32:]


def main(bundle, key, ignored=None):
    try:
        Verifier(bundle, key, ignored).check()
    except (Refused, ValueError, KeyError, IndexError, TypeError, zipfile.BadZipFile, RecursionError) as error:
        print(f"not valid: {error}")
        return 1
    print("valid")
    return 0


sys.exit(main(*sys.argv[1:]))
