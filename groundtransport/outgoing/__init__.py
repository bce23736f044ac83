"""HTTP requests to addresses that people enter: public addresses only, verified TLS, limits of time and size."""

from groundtransport.outgoing.addresses import BadUrl, Target, parse_url
from groundtransport.outgoing.client import ANSWER_MAX, TIMEOUT, Answer, Failure, RequestFailed, send

__all__ = ["ANSWER_MAX", "TIMEOUT", "Answer", "BadUrl", "Failure", "RequestFailed", "Target", "parse_url", "send"]
