"""A homeserver of this machine, and people at it.

serve FOLDER PORT NAME...   makes what is missing in the folder, serves, and prints a line of JSON once it answers: a token for each name
call PORT TOKEN METHOD PATH asks the homeserver for somebody, with the JSON on standard input, and prints what it answers
"""

import atexit
import hashlib
import hmac
import json
import os
import pathlib
import secrets
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request


def ask(port, path, token=None, method="GET", body=None):
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", method=method)
    if token:
        request.add_header("Authorization", f"Bearer {token}")
    data = None
    if body is not None:
        request.add_header("Content-Type", "application/json")
        data = json.dumps(body).encode()
    with urllib.request.urlopen(request, data, timeout=30) as answer:
        return json.load(answer)


def settle(folder, port):
    """Whatever a homeserver needs to begin, for one that nobody but this machine reaches."""
    key, secret = folder / "signing.key", folder / "secret"
    if not key.exists():
        subprocess.run([sys.executable, "-m", "synapse._scripts.generate_signing_key", "-o", key], check=True)
        secret.write_text(secrets.token_hex(32))
    fast = {"per_second": 1000, "burst_count": 1000}
    # JSON is YAML as well.
    settings = {
        "server_name": "localhost",
        "pid_file": str(folder / "pid"),
        "listeners": [
            {
                "port": port,
                "bind_addresses": ["127.0.0.1"],
                "type": "http",
                "tls": False,
                "resources": [{"names": ["client"]}],
            }
        ],
        "database": {"name": "sqlite3", "args": {"database": str(folder / "homeserver.db")}},
        "media_store_path": str(folder / "media"),
        "signing_key_path": str(key),
        "registration_shared_secret": secret.read_text(),
        "macaroon_secret_key": secret.read_text(),
        "form_secret": secret.read_text(),
        "report_stats": False,
        "trusted_key_servers": [],
        "suppress_key_server_warning": True,
        "rc_message": fast,
        "rc_login": {"address": fast, "account": fast},
        "rc_registration": fast,
        "rc_invites": {"per_room": fast, "per_user": fast},
    }
    place = folder / "homeserver.yaml"
    place.write_text(json.dumps(settings))
    return place, secret.read_text()


def register(port, secret, name):
    nonce = ask(port, "/_synapse/admin/v1/register")["nonce"]
    password = "password of " + name
    mac = hmac.new(secret.encode(), digestmod=hashlib.sha1)
    mac.update(b"\0".join([nonce.encode(), name.encode(), password.encode(), b"notadmin"]))
    body = {"nonce": nonce, "username": name, "password": password, "admin": False, "mac": mac.hexdigest()}
    return ask(port, "/_synapse/admin/v1/register", method="POST", body=body)["access_token"]


def serve(folder, port, names):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    place, secret = settle(folder, port)
    log = open(folder / "log", "ab")
    server = subprocess.Popen(
        [sys.executable, "-m", "synapse.app.homeserver", "-c", place], stdout=log, stderr=log, cwd=folder
    )
    # Whatever goes wrong from here on leaves no server behind.
    atexit.register(server.kill)
    signal.signal(signal.SIGTERM, lambda *_: server.kill() or os._exit(0))
    until = time.monotonic() + 120
    while True:
        try:
            ask(port, "/_matrix/client/versions")
            break
        except (OSError, urllib.error.URLError):
            if server.poll() is not None or time.monotonic() > until:
                server.kill()
                sys.exit("the homeserver does not answer")
            time.sleep(0.1)
    kept = folder / "tokens.json"
    tokens = json.loads(kept.read_text()) if kept.exists() else {}
    for name in names:
        tokens.setdefault(name, None)
        tokens[name] = tokens[name] or register(port, secret, name)
    kept.write_text(json.dumps(tokens))
    print(json.dumps(tokens), flush=True)
    # Whoever began this has ended when its end of the pipe is closed.
    sys.stdin.read()
    server.kill()
    server.wait()


def main():
    verb, *words = sys.argv[1:]
    if verb == "serve":
        return serve(words[0], int(words[1]), words[2:])
    port, token, method, path = words
    body = sys.stdin.read()
    print(json.dumps(ask(int(port), path, token, method, json.loads(body) if body else None)))


if __name__ == "__main__":
    main()
