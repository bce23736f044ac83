"""The process log: one JSON object a line, whatever a message holds."""

import json
import logging

from groundtransport.logs import JSONFormatter, request_id


def test_a_line_is_one_json_object_whatever_it_holds() -> None:
    try:
        raise ValueError("first\nsecond")
    except ValueError as error:
        trace = (ValueError, error, error.__traceback__)
    record = logging.LogRecord("a", logging.ERROR, "f", 1, "%s", ('x\r\n{"level": "INFO"}\u2028',), trace)

    line = JSONFormatter().format(record)

    assert len(line.split("\n")) == 1
    assert "\r" not in line
    result = json.loads(line)
    assert result["message"] == 'x\r\n{"level": "INFO"}\u2028'
    assert result["at"].endswith("+00:00")
    assert "second" in result["trace"]


def test_a_line_of_a_request_has_its_id_and_the_fields_of_the_call() -> None:
    record = logging.LogRecord("a", logging.INFO, "f", 1, "request", (), None)
    record.fields = {"status": 200}
    token = request_id.set("0123456789abcdef")
    try:
        line = json.loads(JSONFormatter().format(record))
    finally:
        request_id.reset(token)

    assert (line["request"], line["status"]) == ("0123456789abcdef", 200)
