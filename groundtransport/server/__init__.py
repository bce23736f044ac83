"""WSGI server: waitress with a graceful shutdown, selected by ``use = egg:groundtransport`` in ``[server:main]``."""
