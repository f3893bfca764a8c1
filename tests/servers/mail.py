"""A mail server of this machine: Dovecot for mailboxes, aiosmtpd for what is sent; and people at it.

serve FOLDER IMAP SMTP      serves mailboxes and takes mails on these ports, and prints a line of JSON once it does
send SMTP FROM TO [ROOT]    sends the words on standard input; with the id of a mail, as an answer in its thread. Prints its own id
read IMAP NAME              prints what stands in a mailbox, a JSON object for each mail

Whoever writes from example.com is vouched for, as if the mail was signed there, and nobody else is.
"""

import atexit
import email
import email.message
import email.policy
import email.utils
import grp
import imaplib
import json
import mailbox
import os
import pathlib
import pwd
import shutil
import signal
import smtplib
import subprocess
import sys
import time

PASSWORD = "mail-of-a-test"
NAME = "mx.example.org"
TRUSTED = "example.com"


def owner():
    """Who mailboxes belong to: Dovecot does not let root have them."""
    if os.getuid() == 0:
        user = pwd.getpwnam("nobody")
        return user, grp.getgrgid(user.pw_gid).gr_name
    user = pwd.getpwuid(os.getuid())
    return user, grp.getgrgid(os.getgid()).gr_name


def settings(folder, port):
    user, group = owner()
    return f"""
base_dir = {folder}/run
state_dir = {folder}/state
protocols = imap
listen = 127.0.0.1
ssl = no
disable_plaintext_auth = no
auth_mechanisms = plain login
mail_location = maildir:{folder}/mail/%n
log_path = {folder}/log
default_internal_user = {user.pw_name}
default_internal_group = {group}
default_login_user = {user.pw_name}
first_valid_uid = 1
first_valid_gid = 1
service imap-login {{
  chroot =
  inet_listener imap {{
    port = {port}
  }}
  inet_listener imaps {{
    port = 0
  }}
}}
service anvil {{
  chroot =
}}
service stats {{
  chroot =
}}
passdb {{
  driver = static
  args = password={PASSWORD}
}}
userdb {{
  driver = static
  args = uid={user.pw_name} gid={group} home={folder}/mail/%n
}}
"""


class Taken:
    """Puts each mail into the mailboxes of its receivers, below what this server says of its sender."""

    def __init__(self, folder):
        self.folder = folder

    async def handle_DATA(self, server, session, envelope):
        domain = (envelope.mail_from or "").rsplit("@", 1)[-1]
        verdict = "pass" if domain == TRUSTED else "fail"
        head = f"Authentication-Results: {NAME}; dmarc={verdict} header.from={domain}\r\n"
        user, _ = owner()
        for receiver in envelope.rcpt_tos:
            place = self.folder / "mail" / receiver.split("@")[0]
            box = mailbox.Maildir(place, create=True)
            box.add(head.encode() + envelope.content)
            if os.getuid() == 0:
                for path in [place, *place.rglob("*")]:
                    os.chown(path, user.pw_uid, user.pw_gid)
        return "250 taken"


def serve(folder, imap, smtp):
    from aiosmtpd.controller import Controller
    from aiosmtpd.smtp import AuthResult

    folder = pathlib.Path(folder)
    (folder / "mail").mkdir(parents=True, exist_ok=True)
    user, _ = owner()
    if os.getuid() == 0:
        os.chown(folder / "mail", user.pw_uid, user.pw_gid)
    place = folder / "dovecot.conf"
    place.write_text(settings(folder, imap))
    program = shutil.which("dovecot", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
    if program is None:
        sys.exit("dovecot is not here")
    server = subprocess.Popen([program, "-F", "-c", place], stdout=sys.stderr)
    # Whatever goes wrong from here on leaves no server behind.
    atexit.register(server.terminate)

    def end(*_):
        server.terminate()
        server.wait()
        os._exit(0)

    signal.signal(signal.SIGTERM, end)
    taken = Controller(
        Taken(folder),
        hostname="127.0.0.1",
        port=smtp,
        authenticator=lambda *_: AuthResult(success=True),
        auth_require_tls=False,
    )
    taken.start()
    until = time.monotonic() + 60
    while True:
        try:
            imaplib.IMAP4("127.0.0.1", imap, timeout=5).logout()
            break
        except (OSError, imaplib.IMAP4.error):
            if server.poll() is not None or time.monotonic() > until:
                sys.exit("Dovecot does not answer")
            time.sleep(0.1)
    print(json.dumps({"password": PASSWORD, "name": NAME}), flush=True)
    # Whoever began this has ended when its end of the pipe is closed.
    sys.stdin.read()
    end()


def send(port, sender, receiver, root=None):
    mail = email.message.EmailMessage()
    mail["From"], mail["To"] = sender, receiver
    if root:
        mail["Subject"] = "Re: Hermit"
    mail["Message-ID"] = email.utils.make_msgid(domain=sender.split("@")[-1])
    mail["Date"] = email.utils.localtime()
    if root:
        mail["In-Reply-To"] = mail["References"] = root
    mail.set_content(sys.stdin.read())
    with smtplib.SMTP("127.0.0.1", port, timeout=30) as server:
        server.send_message(mail)
    print(json.dumps(mail["Message-ID"]))


def read(port, name):
    box = imaplib.IMAP4("127.0.0.1", port, timeout=30)
    box.login(name, PASSWORD)
    box.select("INBOX", readonly=True)
    found = []
    for number in box.search(None, "ALL")[1][0].split():
        raw = box.fetch(number, "(BODY.PEEK[])")[1][0][1]
        mail = email.message_from_bytes(raw, policy=email.policy.default)
        body = mail.get_body(("plain",))
        found.append({"from": str(mail["From"]), "id": str(mail["Message-ID"]), "text": body.get_content() if body else ""})
    box.logout()
    print(json.dumps(found))


def main():
    verb, *words = sys.argv[1:]
    if verb == "serve":
        return serve(words[0], int(words[1]), int(words[2]))
    if verb == "send":
        return send(int(words[0]), *words[1:])
    return read(int(words[0]), words[1])


if __name__ == "__main__":
    main()
