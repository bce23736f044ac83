"""What the laboratory makes of deploy/haproxy.cfg and deploy/pgbouncer.ini."""

import configparser
import re
from pathlib import Path

import pytest

from lab.cluster import Member
from lab.pooling import DEPLOY, haproxy_text, pgbouncer_text, replaced
from lab.processes import LabError

MEMBERS = [Member(Path("/nowhere"), f"pg{number}", 7000 + number, 8100 + number) for number in (1, 2, 3)]
ADDRESS = re.compile(r"[\w.]+:\d+ port \d+|127\.0\.0\.1:\d+")


def test_a_text_that_is_not_there_is_named() -> None:
    assert replaced("a b", {"a": "b", "b": "c"}) == "c c"
    with pytest.raises(LabError, match="'d'"):
        replaced("a b", {"d": "e"})


def test_haproxy_gets_the_ports_and_the_members() -> None:
    text = haproxy_text((DEPLOY / "haproxy.cfg").read_text(), [5100, 5101], MEMBERS)
    members = [f"127.0.0.1:{7000 + number} port {8100 + number}" for number in (1, 2, 3)]
    assert ADDRESS.findall(text) == ["127.0.0.1:5100", *members, "127.0.0.1:5101", *members]
    assert not re.search(r"user|192\.0\.2|/dev/log", text)


def test_pgbouncer_gets_the_ports_and_its_folder() -> None:
    ini = configparser.ConfigParser()
    ini.read_string(pgbouncer_text((DEPLOY / "pgbouncer.ini").read_text(), 6100, [5100, 5101], Path("/folder")))
    assert ini["databases"]["groundtransport"] == "host=127.0.0.1 port=5100 dbname=groundtransport"
    assert ini["databases"]["groundtransport_standbys"] == "host=127.0.0.1 port=5101 dbname=groundtransport"
    own = ini["pgbouncer"]
    assert (own["listen_port"], own["pool_mode"]) == ("6100", "transaction")
    assert (own["auth_file"], own["logfile"]) == ("/folder/userlist.txt", "/folder/pgbouncer.log")
