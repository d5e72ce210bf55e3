"""Hints: what to do about an error or a caution, in the options of the command line."""

from __future__ import annotations

from privacyfunnel.errors import Hints

HINTS: Hints = {
    "replace": "use --force to replace it",
    "target": "give a target such as --kept 0.6, or --groups for every column to publish",
    "key": "name it with --key",
    "unseen": "use --unseen suppress or make a new codebook",
    "readable": "--recoding global keeps columns that people can read",
    "shuffle": "write the rows in a random order with --shuffle",
    "missing": "set --missing to {allowing}",
    "input-format": "say which it is with --input-format csv",
    "memory": "raise --memory",
    "fewer-folds": "use fewer --folds, or leave the attackers out with --no-attackers",
    "by-hand": "download {url} by hand and pass it with --data",
    "min-count": "--min-count {least} forbids it",
    "balance": "--balance 0 lets columns be given up",
    "order": "--order {column}='first<...<last' or --hierarchy {column}=FILE puts like with like",
    "holdout": "--holdout 0.3 shows how much",
    "global": "--recoding global is the safer choice",
    "install": "install it with: pip install 'privacyfunnel[{extra}]'",
    "least-count": "ask for less, or lower --min-count or --min-diversity (1 is no rule)",
    "new-people": "choose it on some of them with --choose-on 0.5",
    "choose-on": "--choose-on 0.5 chooses the code on records drawn in secret",
    "apply": "release later tables by this codebook: funnel apply with the same --key",
}
