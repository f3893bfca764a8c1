"""Checks bundles with rfc8785, securesystemslib, in-toto-attestation and prov alone: canonical bytes, links, digests,
envelopes, statements, lineage."""
import base64, glob, hashlib, json, os, sys
import rfc8785
from google.protobuf import json_format
from in_toto_attestation.v1 import statement_pb2
from in_toto_attestation.v1.statement import Statement
from prov.model import ProvDocument
from securesystemslib.dsse import Envelope
from securesystemslib.signer import SSlibKey


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def canonical(data):
    value = json.loads(data)
    assert rfc8785.dumps(value) == data
    return value


def in_toto(payload):
    """A Statement v1 to in-toto's own parser, and valid by its own rules."""
    read = json_format.ParseDict(json.loads(payload), statement_pb2.Statement())
    Statement.copy_from_pb(read).validate()


def lineage(name):
    """A document of PROV-JSON that survives being read and written again, and says of itself that it binds nobody."""
    document = ProvDocument.deserialize(source=name, format="json")
    again = ProvDocument.deserialize(content=document.serialize(format="json"), format="json")
    assert document == again
    own = json.load(open(name))["entity"]["hermit:lineage"]
    assert own["hermit:authoritative"] is False and len(document.get_record("hermit:lineage")) == 1


for root in sys.argv[1:]:
    os.chdir(root)
    lines = lambda name: open(name, "rb").read().splitlines() if os.path.exists(name) else []
    link, number = "0" * 64, 0
    for line in lines("task/events.jsonl"):
        event, number = canonical(line), number + 1
        assert event["prev_event_hash"] == link and event["task_seq"] == number
        link = sha256(line)
    for name in glob.glob("task/events/*.json"):
        assert canonical(open(name, "rb").read())["task_seq"] == int(os.path.basename(name)[:-5])
        number += 1
    for line in lines("gate/entries.jsonl"):
        entry = canonical(line)
        own = entry.pop("entry_hash")
        assert sha256(rfc8785.dumps(entry)) == own
    for name in glob.glob("disclosures/*.json"):
        data = open(name, "rb").read()
        assert len(canonical(data)) == 3 and sha256(data) in name
    for line in lines("disclosures.jsonl"):
        assert len(canonical(line)) == 3
    names = glob.glob("receipts/*.dsse.json") + glob.glob("statement.dsse.json")
    if names:
        der = base64.b64decode("".join(open("keys/receipt.pub.pem").read().splitlines()[1:-1]))
        key = SSlibKey(sha256(der), "ed25519", "ed25519", {"public": der[-32:].hex()})
        for name in names:
            envelope = Envelope.from_dict(json.load(open(name)))
            envelope.verify([key], 1)
            canonical(envelope.payload)
            in_toto(envelope.payload)
    for name in glob.glob("receipts/*.json") + glob.glob("statement.json"):
        if not name.endswith(".dsse.json"):
            in_toto(open(name).read())
    for name in glob.glob("prov.json"):
        lineage(name)
    print(os.path.basename(root), "events", number, "envelopes", len(names))
