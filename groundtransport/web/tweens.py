"""All tweens of the application, in one ordered list."""

from pyramid.config import Configurator
from pyramid.tweens import EXCVIEW, INGRESS

TRANSACTION = "pyramid_tm.tm_tween_factory"

# From the outermost to the innermost. pyramid_tm adds its own; EXCVIEW is Pyramid's, which calls the exception views.
TWEENS = (
    # Measures what all others do.
    "groundtransport.monitoring.tween.tween",
    # Refuses foreign hosts, large bodies and malformed targets before anything reads them; sets the security headers.
    "groundtransport.web.request_guard.tween",
    # Writes the security events of the request in a transaction of its own, after everything inside has ended.
    "groundtransport.security_log.recording.tween",
    # Loads the session before the sign-in is checked, and saves it after the request's transaction has ended.
    "groundtransport.accounts.sessions.storing.tween",
    # Saves a form that was sent without a session, before the next tween redirects it to the sign-in.
    "groundtransport.accounts.saved_forms.tween",
    # Requires a token below /api, before the path, the method or the body are looked at.
    "groundtransport.accounts.tokens.authentication.tween",
    # Redirects every URL under /admin to the sign-in, before 404, 405 or CSRF are looked at.
    "groundtransport.web.login_required.tween",
    # Has the replica answer what it may; the leader has identified the user before. Sees the end of the transaction.
    "groundtransport.web.replica_reads.tween",
    # Leads from the sign-in back to the form that was saved; needs the signed-in user.
    "groundtransport.records.edit.saved_forms.tween",
    # Turns POST with _method into PUT or DELETE, before the transaction and the view lookup see the method.
    "groundtransport.web.method_override.tween",
    # Aborts a transaction whose commit failed: pyramid_tm leaves it open. So it stands directly over pyramid_tm.
    "groundtransport.db.tween",
    TRANSACTION,
    # Adds the session's changes of a writing request to its transaction, so that both commit or neither does.
    "groundtransport.accounts.sessions.storing.tween_within",
    EXCVIEW,
)


def includeme(config: Configurator) -> None:
    for outer, name, inner in zip((INGRESS, *TWEENS), TWEENS, TWEENS[1:], strict=False):
        if name != TRANSACTION:
            config.add_tween(name, under=outer, over=inner)
