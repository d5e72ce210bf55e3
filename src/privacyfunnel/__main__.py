"""``python -m privacyfunnel`` is the ``funnel`` command."""

from privacyfunnel.cli import main

main()
