"""The process log: one JSON object a line, whatever a message holds."""

import json
import logging

from groundtransport.logs import JSONFormatter


def test_a_line_is_one_json_object_whatever_it_holds() -> None:
    try:
        raise ValueError("first\nsecond")
    except ValueError as error:
        trace = (ValueError, error, error.__traceback__)
    record = logging.LogRecord("a", logging.ERROR, "f", 1, "%s", ('x\r\n{"level": "INFO"}\u2028',), trace)

    line = JSONFormatter().format(record)

    assert len(line.split("\n")) == 1
    assert "\r" not in line
    found = json.loads(line)
    assert found["message"] == 'x\r\n{"level": "INFO"}\u2028'
    assert found["at"].endswith("+00:00")
    assert "second" in found["trace"]
